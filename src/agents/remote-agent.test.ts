import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { fakeCall, manualClock } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { type ScriptedReply, scriptedModel } from '../models/scripted-model.ts';
import type { RespondRequest } from '../schema/agent-protocol.ts';
import { llm } from './llm.ts';
import { remoteAgent } from './remote-agent.ts';
import type { RemoteOptions } from './remote-options.ts';

/** An agent whose transport gives scripted replies, and what it was sent. */
function scripted(replies: readonly object[], options: Partial<RemoteOptions> = {}) {
  const sent: RespondRequest[] = [];
  const agent = remoteAgent({
    name: 'remote',
    options: { memory_strategy: 'none', variables: [], timeout_s: 1, ...options },
    transport: {
      async send(request) {
        const value = replies[sent.length];
        sent.push(structuredClone(request) as RespondRequest);
        return { value };
      },
      close: async () => {},
    },
    redact: (text) => text,
    clock: manualClock(),
    needsNetwork: false,
  });
  return { agent, sent, respond: (memory = fakeMemory()) => agent.respond(task, memory, fakeCall()) };
}

const call = (id: string, query: string) => ({ id, name: 'search_memory', input: { query } });

it('has no secret in its warnings: they go into the record as they are', async () => {
  const agent = remoteAgent({
    name: 'remote',
    options: { memory_strategy: 'none', variables: [], timeout_s: 1 },
    transport: {
      send: async () => ({ value: { message: 'x', warnings: ['401 for key m0-secret'] } }),
      close: async () => {},
    },
    redact: (text) => text.replaceAll('m0-secret', '[key]'),
    clock: manualClock(),
    needsNetwork: false,
  });
  expect((await agent.respond(task, fakeMemory(), fakeCall())).warnings).toEqual(['401 for key [key]']);
});

describe('an agent that asks for tools', () => {
  it('is asked again with the results of all rounds, and what it handed over', async () => {
    const { respond, sent } = scripted(
      [
        { tool_calls: [call('a', 'food'), call('b', 'name')], state: { thought: 1 } },
        { tool_calls: [call('a', 'illness')] },
        { message: 'Dear restaurant' },
      ],
      { memory_strategy: 'tool' },
    );
    const reply = await respond(fakeMemory(undefined, 1));
    expect(reply.message).toBe('Dear restaurant');
    expect(reply.recalls.map(({ query }) => query)).toEqual(['food', 'name', 'illness']);
    expect(sent.map(({ tool_calls_left }) => tool_calls_left)).toEqual([8, 6, 5]);
    expect(sent[0]?.tools?.map(({ name }) => name)).toEqual(['search_memory']);
    expect(sent[0]?.steps).toEqual([]);
    const content = '- Name: Zoë Müller';
    expect(sent[2]?.steps).toEqual([
      {
        tool_calls: [call('a', 'food'), call('b', 'name')],
        results: [
          { id: 'a', content },
          { id: 'b', content },
        ],
        state: { thought: 1 },
      },
      { tool_calls: [call('a', 'illness')], results: [{ id: 'a', content }] },
    ]);
    // The same request but for its id and what has happened since.
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
  });

  it('must answer at the limit', async () => {
    const asks = { tool_calls: [call('a', 'food'), call('b', 'name')] };
    const { respond, sent } = scripted([asks, asks], { memory_strategy: 'tool', max_tool_calls: 1 });
    await expect(respond()).rejects.toMatchObject({ code: 'agent_tool_limit' });
    expect(sent.map(({ tool_calls_left }) => tool_calls_left)).toEqual([1, 0]);
    expect(sent[1]?.steps?.[0]?.results[1]?.content).toBe('No result: the limit of 1 calls is reached.');
  });

  it('gets a tool of the memory where it has some, and words for one that there is not', async () => {
    const memory = fakeMemory();
    const spec = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };
    const tools = [{ spec, run: async () => ({ content: 'a note' }) }];
    const { respond, sent } = scripted(
      [
        {
          tool_calls: [
            { id: '1', name: 'look', input: {} },
            { id: '2', name: 'search_memory', input: 'x' },
          ],
        },
        { message: 'x' },
      ],
      { memory_strategy: 'tool' },
    );
    const reply = await respond({ ...memory, scope: { ...memory.scope, tools } });
    expect(sent[0]?.tools).toEqual([{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }]);
    expect(reply.tool_calls.map(({ output }) => output)).toEqual([
      'a note',
      'No result: there is no tool "search_memory". The only tool is look.',
    ]);
    expect(reply.recalls).toEqual([]);
  });
});

describe('the same replies from an agent elsewhere and from a model in this process', () => {
  const INSTRUCTIONS = 'You help.{{ memories }}';
  it.each(['none', 'inject', 'tool'] as const)('give the same reply with %s', async (strategy) => {
    const instructions = strategy === 'inject' ? INSTRUCTIONS : 'You help.';
    const asks: ScriptedReply = { toolRequests: [call('1', 'food')], finishReason: 'tool_calls' };
    const answers: ScriptedReply = { text: 'Dear restaurant', modelVersion: 'm-1', warnings: ['w'] };
    const model = scriptedModel(strategy === 'tool' ? [asks, answers] : [answers]);
    const file = { model_id: 'test:x', memory_strategy: strategy, instructions };
    const local = await llm.create(llm.schema.parse(file), fakePluginContext({ model }));
    const expected = await local.respond(task, fakeMemory(), fakeCall());

    const [first, second] = [{ tool_calls: [call('1', 'food')] }, messageOf(expected)];
    const { respond } = scripted(strategy === 'tool' ? [first, second] : [second], { memory_strategy: strategy });
    expect(await respond()).toEqual(expected);
  });

  const messageOf = ({
    message,
    prompt,
    model_version,
  }: {
    message: string;
    prompt: object[];
    model_version?: string | undefined;
  }) => ({
    message,
    prompt,
    model_version,
    finish_reason: 'stop',
    warnings: ['w'],
  });
});
