import { describe, expect, it } from 'vitest';
import { facts, fakeMemory } from '../../test/support/agent-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { AgentMemory } from '../contracts/agent.ts';
import type { ToolAnswer } from '../contracts/memory.ts';
import { systemClock } from '../lib/clock.ts';
import { fileMemory } from '../memory/file-memory.ts';
import type { RecallItem } from '../schema/record.ts';
import { filteredMemory, type MemoryFilter } from './filtered-memory.ts';

const item = (i: number): RecallItem => ({ text: facts[i]?.text ?? '', fact_ids: [`f${i}`] });
const withoutIllness: MemoryFilter = {
  defence: 'gate',
  sift: (items) => ({
    kept: items.filter(({ text }) => !/diabetes/i.test(text)),
    withheld: items.filter(({ text }) => /diabetes/i.test(text)),
  }),
};

function withTool(answer: ToolAnswer): AgentMemory {
  const memory = fakeMemory();
  const spec = { name: 'view', description: 'Shows a note.', inputSchema: {} };
  return { ...memory, scope: { ...memory.scope, tools: [{ spec, run: async () => answer }] } };
}
const toolOf = (memory: AgentMemory) => filteredMemory(memory, withoutIllness).scope.tools?.[0];

describe('filteredMemory', () => {
  it('keeps items from a search, and tells what it kept back', async () => {
    const memory = fakeMemory();
    const recall = await filteredMemory(memory, withoutIllness).scope.search('table', 5);
    expect(recall).toEqual({ query: 'table', requested_k: 5, items: [item(0)], withheld: [item(1), item(2)] });
    expect(memory.searches).toEqual(['table / 5']);
  });

  it('drops the raw reply where it kept anything back, and leaves the recall as it is where not', async () => {
    const memory = fakeMemory();
    const raw = { hits: facts.map(({ text }) => text) };
    const search = async (query: string) => ({ query, items: [item(0), item(1)], raw });
    const filtered = filteredMemory({ ...memory, scope: { ...memory.scope, search } }, withoutIllness);
    expect(JSON.stringify((await filtered.scope.search('x', 2)).items)).not.toContain('diabetes');
    expect((await filtered.scope.search('x', 2)).raw).toBeUndefined();
    const all: MemoryFilter = { defence: 'gate', sift: (items) => ({ kept: [...items], withheld: [] }) };
    const open = filteredMemory({ ...memory, scope: { ...memory.scope, search } }, all);
    expect((await open.scope.search('x', 2)).raw).toBe(raw);
  });

  it('writes the text of a tool anew from what is kept', async () => {
    const recall = { query: 'view', items: [item(0), item(1)] };
    const tool = toolOf(withTool({ content: 'notes.md:\nName: Zoë Müller\nIllness: type-2 diabetes', recall }));
    expect(tool?.spec.name).toBe('view');
    expect(await tool?.run({})).toEqual({
      content: '- Name: Zoë Müller',
      recall: { query: 'view', items: [item(0)], withheld: [item(1)] },
    });
  });

  it('says that nothing was found where nothing is left of a tool’s text', async () => {
    const recall = { query: 'view', items: [item(2)] };
    expect((await toolOf(withTool({ content: 'secret', recall }))?.run({}))?.content).toBe('Nothing found.');
  });

  it('lets nothing through that a tool shows beside its items', async () => {
    const beside = { content: 'Name: Zoë Müller\nand her illness', recall: { query: 'view', items: [item(0)] } };
    expect(await toolOf(withTool(beside))?.run({})).toEqual({ content: '- Name: Zoë Müller', recall: beside.recall });
    const unnamed = { content: 'her illness', recall: { query: 'view', items: [] } };
    expect((await toolOf(withTool(unnamed))?.run({}))?.content).toBe('Nothing found.');
  });

  it('leaves the text of a tool that shows nothing of the memory as it is', async () => {
    const written = { content: 'The note was saved.' };
    expect(await toolOf(withTool(written))?.run({})).toBe(written);
  });

  it('lets nobody list the memory', async () => {
    const filtered = filteredMemory(fakeMemory(), withoutIllness);
    await expect(filtered.scope.list()).rejects.toMatchObject({ code: 'defence_cannot_filter' });
  });

  it('refuses a memory that belongs to its agent, naming both', () => {
    const memory = fakeMemory();
    const external = { ...memory.capabilities, external: true as const };
    expect(() => filteredMemory({ ...memory, backend: 'own_memory', capabilities: external }, withoutIllness)).toThrow(
      'the defence "gate" cannot filter the memory "own_memory"',
    );
  });
});

describe('a memory with tools of its own', () => {
  it('shows an agent behind a filter nothing that is kept back, by search or by tool', async () => {
    const options = fileMemory.schema.parse({ backend: 'file_memory' });
    const backend = await fileMemory.create(options, { ...fakePluginContext(), clock: systemClock });
    try {
      const scope = await backend.open('s', fakeCall({ stage: 'prime' }));
      await scope.write(facts);
      const { topK, capabilities } = backend;
      const filtered = filteredMemory({ scope, scopeId: 's', topK, capabilities }, withoutIllness).scope;
      const shown = [JSON.stringify(await filtered.search('illness chat', 5))];
      for (const { spec, run } of filtered.tools ?? []) {
        if (spec.name !== 'view') continue;
        for (const path of ['/memories', '/memories/notes.md', '/memories/none.md'])
          shown.push((await run({ path })).content);
        shown.push((await run({ path: '/memories/notes.md', view_range: [2, 4] })).content);
      }
      expect(shown.length).toBe(5);
      expect(shown[2]).toBe('- Name: Zoë Müller');
      const { withheld: _, ...seen } = JSON.parse(shown[0] as string) as { withheld: unknown };
      expect([JSON.stringify(seen), ...shown.slice(1)].join('\n')).not.toMatch(/diabetes|how are you/i);
      await scope.dispose();
    } finally {
      await backend.close();
    }
  });
});
