import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { builtinRegistry } from '../config/registry.ts';
import { checkTemplate } from '../lib/template.ts';
import { scriptedModel } from '../models/scripted-model.ts';
import { llm } from './llm.ts';

const plugins = await Promise.all(Object.values(builtinRegistry.agents).map((load) => load()));
const folder = join(import.meta.dirname, '../../configs/agents');
const offered = Object.keys(task.variables);

describe('shipped agent configs', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));

  it.each(files)('%s fits its plug-in, and its prompts use what they may', async (file) => {
    const config = parse(await readFile(join(folder, file), 'utf8')) as { kind: string; name: string };
    const plugin = plugins.find(({ name }) => name === config.kind);
    const options = plugin?.schema.parse(config);
    expect(`${config.name}.yaml`).toBe(file);
    for (const { source, variables, requires } of plugin?.templates?.(options, offered) ?? []) {
      expect(checkTemplate(source, variables, requires)).toEqual([]);
    }
  });

  it('assistant.yaml shows memories in a block of their own, and no block without memories', async () => {
    const options = llm.schema.parse(parse(await readFile(join(folder, 'assistant.yaml'), 'utf8')));
    const system = async (memory = fakeMemory()) => {
      const model = scriptedModel(['Hello']);
      await (await llm.create(options, fakePluginContext({ model }))).respond(task, memory, fakeCall());
      return model.requests[0]?.messages[0]?.content ?? '';
    };
    const [base, block] = (await system()).split('\n\nWhat you remember about the user:\n');
    expect(block).toBe(
      '<memories>\n- Name: Zoë Müller\n- Illness: type-2 diabetes\n' +
        '- Chat: Mum: how are you?\n  Zoë: my DIABETES is better\n</memories>\n',
    );
    expect(await system(fakeMemory([]))).toBe(`${base}\n`);
  });
});
