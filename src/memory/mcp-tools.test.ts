import { afterEach, describe, expect, it } from 'vitest';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { chatReply, fakeChatModel } from '../../test/support/fake-chat-model.ts';
import { fakeJob, fakeParts, fakeSample } from '../../test/support/fake-parts.ts';
import { makeMcp, mappedTools, overStdio } from '../../test/support/mcp-memory.ts';
import { makeState, startMcpHttp } from '../../test/support/mcp-memory-server.mjs';
import { pool } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { llm } from '../agents/llm.ts';
import type { MemoryBackend, MemoryTool } from '../contracts/memory.ts';
import { systemClock } from '../lib/clock.ts';
import { runSample } from '../run/run-sample.ts';
import { agentTools } from './mcp/agent-tools.ts';
import { settingsOf } from './mcp/options.ts';
import { Sources } from './mcp/sources.ts';
import { mcp } from './mcp.ts';

const never = new AbortController().signal;
const opened: MemoryBackend[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((memory) => memory.close()));
});

/** A scope with the pool in it. */
async function primed(file: object, facts = pool) {
  const memory = await makeMcp(file);
  opened.push(memory);
  const scope = await memory.open('scope', fakeCall());
  await scope.write(facts);
  const tool = (name: string) => scope.tools?.find(({ spec }) => spec.name === name) as MemoryTool;
  return { memory, scope, tool };
}

const graph = {
  preset: 'server-memory',
  agent_tools: ['search_nodes', 'open_nodes', 'read_graph', 'delete_relations'],
};
const keysOf = (texts: { fact_ids: string[] }[]) => texts.flatMap(({ fact_ids: ids }) => ids);

describe('the tools of server-memory in the hands of the agent', { timeout: 30_000 }, () => {
  it('are those that the file allows, as the server describes them', async () => {
    const { scope, tool } = await primed(graph);
    expect(scope.tools?.map(({ spec }) => spec.name)).toEqual(graph.agent_tools);
    expect(tool('search_nodes').spec).toMatchObject({
      description: 'Search for nodes in the knowledge graph based on a query',
      inputSchema: { type: 'object', required: ['query'] },
    });
    expect((await primed({ preset: 'server-memory' })).scope.tools).toBeUndefined();
  });

  it('record what each call showed: by the mapping, or by the facts whose text is in it', async () => {
    const { tool } = await primed(graph);
    const found = await tool('search_nodes').run({ query: 'HOTEL' });
    expect(found.content).toContain('an ocean view suite in the hotel');
    expect(found.recall?.query).toBe('{"query":"HOTEL"}');
    expect(keysOf(found.recall?.items ?? [])).toEqual(['f2', 'f5']);
    expect(found.recall?.raw).toMatchObject({ entities: [{ name: 'room_preferences' }, { name: 'Family chat' }] });
    // Of several lines, quoted in JSON: found all the same.
    const open = await tool('open_nodes').run({ names: ['Family chat', '名前'] });
    expect(keysOf(open.recall?.items ?? [])).toEqual(['f4', 'f5']);
    expect(open.recall?.items[1]?.text).toBe(pool[5]?.text);
    // The whole query is looked for as one piece of text: that is the server's own way, and no trick of HEAMS's.
    expect((await tool('search_nodes').run({ query: 'ocean hotel' })).recall?.items).toEqual([]);
    expect(keysOf((await tool('read_graph').run({})).recall?.items ?? [])).toEqual(pool.map(({ id }) => id));
  });

  it('answer in words where the input makes no sense', async () => {
    const { tool } = await primed(graph, pool.slice(0, 1));
    const wrong = await tool('search_nodes').run({ words: 'hotel' });
    expect(wrong.content).toMatch(/^No result: .*query/s);
    expect(wrong.recall).toBeUndefined();
    expect((await tool('search_nodes').run('hotel')).content).toBe('No result: the input must be an object.');
  });

  it('serve a model that asks for them, in the path of one sample', async () => {
    const asks = chatReply('', { toolRequests: [{ id: '1', name: 'search_nodes', input: { query: 'suite' } }] });
    const model = fakeChatModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? 'An ocean view suite.' : asks));
    const memory = await makeMcp(graph);
    const file = { model_id: 'openai:x', instructions: 'Be brief.', memory_strategy: 'tool' };
    const agent = await llm.create(llm.schema.parse(file), { ...fakePluginContext({ model }), clock: systemClock });
    const sample = fakeSample('s', { facts: [...pool] });
    const record = await runSample(fakeJob({ sample }), fakeParts({ memory, agent, clock: systemClock }), never);
    expect(record.status).toBe('done');
    expect(keysOf(record.reply?.recalls[0]?.items ?? [])).toEqual(['f2']);
    expect(record.reply?.tool_calls[0]).toMatchObject({ name: 'search_nodes', input: { query: 'suite' } });
    await memory.close();
  });
});

describe('a tool that says it failed', () => {
  it('has in its recall what it shows of the memory all the same, for exposure and for filters', async () => {
    const sources = new Sources();
    sources.add(pool.slice(0, 2));
    const settings = settingsOf(mcp.schema.parse({ ...overStdio(), agent_tools: ['recall'] }));
    const said = (text: string, rewrites = false) =>
      agentTools({
        settings: { ...settings, rewrites },
        scopeId: 'scope',
        specs: [{ name: 'recall', description: '', inputSchema: {} }],
        sources,
        call: async () => ({ texts: [text], failed: true }),
        read: () => undefined,
      })[0]?.run({});
    const text = `ambiguous: ${pool[1]?.text}`;
    expect(await said(text)).toMatchObject({
      content: `No result: ${text}`,
      recall: { items: [{ fact_ids: ['f1'] }] },
    });
    expect((await said(text, true))?.recall?.items).toEqual([{ text, fact_ids: ['f1'] }]);
    expect((await said('unknown argument'))?.recall).toBeUndefined();
  });
});

describe('the tools of a shared server', { timeout: 30_000 }, () => {
  const agentTools = [
    { tool: 'recall', arguments: { user: '{{ scope }}' } },
    { tool: 'environment', arguments: { user: '{{ scope }}' } },
  ];

  it('are bound to the scope: the agent neither sees nor sets its name', async () => {
    const { tool } = await primed({ ...overStdio(), isolation: 'argument', agent_tools: agentTools });
    const { properties, required } = tool('recall').spec.inputSchema;
    expect(Object.keys(properties as object)).toEqual(['query', 'limit']);
    expect(required).toEqual(['query', 'limit']);
    const found = await tool('recall').run({ user: 'somebody else', query: 'P1234567', limit: 1 });
    expect(keysOf(found.recall?.items ?? [])).toEqual(['f3']);
  });

  it("have another scope's items in their recall, for the guard to refuse", async () => {
    const state = makeState().set('other', [{ id: 'x', text: 'the ocean view suite of somebody else' }]);
    const server = await startMcpHttp({ faults: { leaks: true }, state });
    const { tool } = await primed({ ...mappedTools, url: server.url, agent_tools: agentTools });
    const found = await tool('recall').run({ query: 'hotel', limit: 1 });
    expect(found.recall?.items).toEqual([{ text: 'the ocean view suite of somebody else', fact_ids: [] }]);
    await server.close();
  });

  it('are a failure of the memory where the server is gone', async () => {
    const { tool } = await primed({ ...overStdio({ dies: true }), agent_tools: ['recall'] });
    const input = { user: 'scope', query: 'hotel', limit: 1 };
    expect(await heamsErrorOf(tool('recall').run(input))).toMatchObject({ code: 'memory_died' });
  });

  it('may be all there is to search with', async () => {
    const { search: _, ...tools } = overStdio();
    const { scope } = await primed({ ...tools, agent_tools: ['recall'] }, pool.slice(0, 1));
    expect(await heamsErrorOf(scope.search('hotel', 1))).toMatchObject({ code: 'memory_no_search' });
  });

  it('show a text that is all that is known of a system that rewrites', async () => {
    const { tool } = await primed({ ...overStdio({ rewrites: true }), rewrites: true, agent_tools: ['recall'] });
    const found = await tool('recall').run({ user: 'scope', query: 'P1234567', limit: 1 });
    expect(found.recall?.items).toEqual([{ text: expect.stringContaining('noted: PassportNumber'), fact_ids: ['f3'] }]);
  });
});
