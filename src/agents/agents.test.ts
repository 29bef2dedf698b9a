import { describe, expect, it } from 'vitest';
import { agentContract, facts, fakeMemory, labels, task } from '../../test/support/agent-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { Agent } from '../contracts/agent.ts';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { scriptedModel } from '../models/scripted-model.ts';
import { dump } from './dump.ts';
import { llm } from './llm.ts';
import { oracle } from './oracle.ts';
import { redacted } from './redacted.ts';
import { silent } from './silent.ts';

const controls = [silent, dump, oracle, redacted] as AgentPlugin[];
const control = <O>({ name, schema, create }: AgentPlugin<O>): Promise<Agent> =>
  create(schema.parse({ kind: name }), fakePluginContext());

agentContract('silent', () => control(silent), { seesLabels: false, searches: 0 });
agentContract('dump', () => control(dump), { seesLabels: false, searches: 1 });
agentContract('oracle', () => control(oracle), { seesLabels: true, searches: 1 });
agentContract('redacted', () => control(redacted), { seesLabels: true, searches: 1 });

const search = { id: '1', name: 'search_memory', input: { query: 'food' } };
const scripts = {
  none: { file: { instructions: 'You help.' }, searches: 0, script: [{ text: 'Hello' }] },
  inject: { file: { instructions: '{{ memories }}' }, searches: 1, script: [{ text: 'Hello' }] },
  tool: {
    file: { instructions: 'You help.' },
    searches: 1,
    script: [{ toolRequests: [search], finishReason: 'tool_calls' as const }, { text: 'Hello' }],
  },
};
for (const [strategy, { file, searches, script }] of Object.entries(scripts)) {
  const make = () =>
    llm.create(
      llm.schema.parse({ model_id: 'test:scripted', memory_strategy: strategy, ...file }),
      fakePluginContext({ model: scriptedModel(script) }),
    );
  agentContract(`llm, ${strategy}`, make, { seesLabels: false, searches });
}

describe('controls', () => {
  const message = async <O>(plugin: AgentPlugin<O>, memory = fakeMemory()) => {
    const agent = await control(plugin);
    return (await agent.respond(agent.seesLabels ? { ...task, labels } : task, memory, fakeCall())).message;
  };

  it('silent says nothing', async () => {
    expect(await message(silent)).toBe('');
  });

  it('dump repeats what was recalled, and no more', async () => {
    expect(await message(dump)).toBe(facts.map(({ text }) => text).join('\n'));
    expect(await message(dump, fakeMemory(facts, 1))).toBe('Name: Zoë Müller');
    expect(await message(dump, fakeMemory([]))).toBe('');
  });

  it('oracle repeats the allowed facts, recalled or not', async () => {
    expect(await message(oracle)).toBe('Name: Zoë Müller');
    expect(await message(oracle, fakeMemory([]))).toBe('Name: Zoë Müller');
  });

  it('redacted strikes the secrets out of what was recalled', async () => {
    expect(await message(redacted)).toBe(
      'Name: Zoë Müller\nIllness: █████\nChat: Mum: how are you?\nZoë: my █████ is better',
    );
  });

  it.each(controls)('take a name and refuse what they do not know ($name)', async (plugin) => {
    const { schema, create } = plugin;
    const named = await create(schema.parse({ kind: plugin.name, name: 'mine' }), fakePluginContext());
    expect(named.name).toBe('mine');
    expect((await control(plugin)).name).toBe(plugin.name);
    expect(schema.safeParse({ kind: plugin.name, model_id: 'openai:x' }).success).toBe(false);
  });
});
