import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { Agent } from '../contracts/agent.ts';
import type { MemoryBackend, OwnMemoryOptions } from '../contracts/memory.ts';
import { checkTemplate } from '../lib/template.ts';
import { ownMemory } from './own-memory.ts';
import { recordedMemory } from './recorded.ts';

const file = (more: object = {}) => ({
  backend: 'own_memory',
  telling: '{{ at }}|{{ session }}|{% for fact in facts %}{{ fact.text }};{% endfor %}',
  ...more,
});
const agent = (own?: Agent['ownMemory']): Agent => ({
  name: 'mine',
  seesLabels: false,
  ...(own ? { ownMemory: own } : {}),
  respond: () => Promise.reject(new Error('unused')),
});

describe('own_memory', () => {
  it('is the memory of its agent, told in the words of the file', async () => {
    const given: OwnMemoryOptions[] = [];
    const backend = { name: 'own_memory' } as MemoryBackend;
    const own = (options: OwnMemoryOptions) => {
      given.push(options);
      return backend;
    };
    const options = ownMemory.schema.parse(file());
    expect(await ownMemory.create(options, { ...fakePluginContext(), agent: agent(own) })).toBe(backend);
    const [{ telling, each }] = given as [OwnMemoryOptions];
    expect(each).toBe('session');
    const fact = { id: 'f', key: 'A', text: 'A: {{ x }}' };
    expect(telling([fact])).toBe('||A: {{ x }};');
    const dated = { ...fact, at: '2025-01-01T10:00:00Z', session: 's1', distractor: true as const };
    expect(telling([dated, fact])).toBe('2025-01-01T10:00:00Z|s1|A: {{ x }};A: {{ x }};');
  });

  it.each([agent(), undefined])('is refused before anything runs for an agent that has none', async (one) => {
    const context = { ...fakePluginContext(), ...(one ? { agent: one } : {}) };
    const refused = ownMemory.create(ownMemory.schema.parse(file()), context);
    await expect(refused).rejects.toMatchObject({ code: 'agent_without_own_memory' });
    if (one) await expect(refused).rejects.toThrow('the agent "mine" has no memory of its own');
  });

  it('graded again, is as unknown as it was', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heams-'));
    const records = join(folder, 'runs.jsonl');
    await writeFile(records, '');
    const run = { records, run_id: 'r', backend: 'own_memory', provenance: false };
    const again = await recordedMemory.create({ backend: 'recorded', run }, fakePluginContext());
    expect(again).toMatchObject({ name: 'own_memory', capabilities: { external: true, stores: false } });
    await rm(folder, { recursive: true });
  });

  it('needs its words, which name the facts, and has no top_k', () => {
    const problems = (more: object) =>
      ownMemory.schema.safeParse(file(more)).error?.issues.map(({ path }) => path.join('.')) ?? [];
    expect(problems({ telling: undefined })).toEqual(['telling']);
    expect(problems({ top_k: 3 })).toEqual(['top_k']);
    expect(problems({ each: 'turn' })).toEqual(['each']);
    const check = (telling: string) =>
      (ownMemory.templates?.(ownMemory.schema.parse(file({ telling })), ['user_task']) ?? []).flatMap((use) =>
        checkTemplate(use.source, use.variables, use.requires).map(({ message }) => message),
      );
    expect(check('{{ session }}')).toEqual(['the template never uses {{ facts }}']);
    expect(check('{{ facts | json }} {{ user_task }}')).toEqual(['unknown template variable "user_task"']);
  });
});
