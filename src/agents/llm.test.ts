import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { AgentMemory } from '../contracts/agent.ts';
import type { ChatModel } from '../contracts/model.ts';
import { type ScriptedReply, scriptedModel } from '../models/scripted-model.ts';
import { llm } from './llm.ts';

const INSTRUCTIONS = 'Write to {{ recipient }}.{% if memories != "" %}\nYou know:\n{{ memories }}{% endif %}';
const inject = { model_id: 'builtin:scripted', memory_strategy: 'inject', instructions: INSTRUCTIONS };
const tool = { model_id: 'builtin:scripted', memory_strategy: 'tool', instructions: 'Write to {{ recipient }}.' };
const none = { ...tool, memory_strategy: 'none' };

async function respond(file: object, model: ChatModel, memory: AgentMemory = fakeMemory(), given = task) {
  const agent = await llm.create(llm.schema.parse(file), fakePluginContext({ model }));
  return agent.respond(given, memory, fakeCall());
}

const asks = (...queries: unknown[]): ScriptedReply => ({
  text: 'Let me look.',
  toolRequests: queries.map((query, i) => ({ id: `c${i}`, name: 'search_memory', input: { query: String(query) } })),
});

describe('llm, inject', () => {
  it('searches once for the task and shows what came back', async () => {
    const model = scriptedModel([{ text: 'Dear restaurant', modelVersion: 'scripted-1' }]);
    const memory = fakeMemory(undefined, 2);
    const reply = await respond(inject, model, memory);
    expect(memory.searches).toEqual(['book a table / 2']);
    const prompt = [
      {
        role: 'system',
        content: 'Write to the restaurant.\nYou know:\n- Name: Zoë Müller\n- Illness: type-2 diabetes',
      },
      { role: 'user', content: 'Please do this: book a table.' },
    ];
    expect(model.requests).toEqual([{ messages: prompt }]);
    expect(reply).toMatchObject({
      message: 'Dear restaurant',
      prompt,
      tool_calls: [],
      finish_reason: 'stop',
      model_version: 'scripted-1',
    });
    expect(reply.recalls.map(({ items }) => items.length)).toEqual([2]);
  });

  it('shows nothing where nothing was recalled', async () => {
    const model = scriptedModel(['Hello']);
    await respond(inject, model, fakeMemory([]));
    expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'Write to the restaurant.' });
  });

  it('does not take Liquid in a memory for Liquid', async () => {
    const model = scriptedModel(['Hello']);
    await respond(inject, model, fakeMemory([{ id: 'f', key: 'k', text: 'k: {{ recipient }}' }]));
    expect(model.requests[0]?.messages[0]?.content).toContain('- k: {{ recipient }}');
  });
});

describe('llm, none', () => {
  it('leaves the memory alone and offers no tool', async () => {
    const model = scriptedModel(['Hello']);
    const memory = fakeMemory();
    const reply = await respond(none, model, memory);
    expect(memory.searches).toEqual([]);
    expect(reply.recalls).toEqual([]);
    expect(model.requests[0]).not.toHaveProperty('tools');
  });

  it('sends no system message that is blank, and the whole conversation', async () => {
    const model = scriptedModel(['Hello']);
    const turns = [
      { role: 'user' as const, content: 'Hi' },
      { role: 'assistant' as const, content: 'Yes?' },
      { role: 'user' as const, content: 'Book.' },
    ];
    await respond({ ...none, instructions: '{% if recipient == "" %}x{% endif %} ' }, model, fakeMemory(), {
      ...task,
      turns,
    });
    expect(model.requests[0]?.messages).toEqual(turns);
  });

  it('refuses a tool turn in the conversation', async () => {
    const turns = [{ role: 'tool' as const, content: 'result' }];
    const refused = respond(none, scriptedModel(['Hello']), fakeMemory(), { ...task, turns });
    await expect(refused).rejects.toMatchObject({ code: 'agent_bad_turn' });
  });

  it('keeps an empty message and how it ended', async () => {
    const reply = await respond(none, scriptedModel([{ text: '', finishReason: 'refused', warnings: ['w', 'w'] }]));
    expect(reply).toMatchObject({ message: '', finish_reason: 'refused', warnings: ['w'] });
    expect(reply).not.toHaveProperty('model_version');
  });

  it("fails on a message that ended at the token limit: half a message is nobody's message", async () => {
    const model = scriptedModel([{ text: 'Dear Dr. Hahn, I am writing to', finishReason: 'cut_off' }]);
    await expect(respond(none, model)).rejects.toMatchObject({ code: 'agent_cut_off' });
  });

  it('passes on that the model could not be reached', async () => {
    const down = new Error('no route to host');
    await expect(respond(none, scriptedModel([down]))).rejects.toBe(down);
  });
});

describe('llm, tool', () => {
  it('lets the model search until it answers, and records every call', async () => {
    const model = scriptedModel([asks('food', 'illness'), asks('name'), 'Dear restaurant']);
    const memory = fakeMemory(undefined, 1);
    const reply = await respond(tool, model, memory);
    expect(memory.searches).toEqual(['food / 1', 'illness / 1', 'name / 1']);
    expect(reply.message).toBe('Dear restaurant');
    expect(reply.recalls.map(({ query }) => query)).toEqual(['food', 'illness', 'name']);
    const output = '- Name: Zoë Müller';
    expect(reply.tool_calls).toEqual(
      ['food', 'illness', 'name'].map((query) => ({ name: 'search_memory', input: { query }, output })),
    );
    expect(reply.prompt.map(({ role }) => role)).toEqual(['system', 'user']);

    const [first, second, third] = model.requests;
    expect(first?.tools?.map(({ name }) => name)).toEqual(['search_memory']);
    expect(second?.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        toolRequests: [
          { id: 'c0', name: 'search_memory', input: { query: 'food' } },
          { id: 'c1', name: 'search_memory', input: { query: 'illness' } },
        ],
      },
      { role: 'tool', id: 'c0', name: 'search_memory', content: output },
      { role: 'tool', id: 'c1', name: 'search_memory', content: output },
    ]);
    expect(third?.messages.length).toBe(7);
    expect(model.requests.map((request) => request.toolChoice)).toEqual([undefined, undefined, undefined]);
  });

  it('may answer without a search', async () => {
    const reply = await respond(tool, scriptedModel(['Hello']));
    expect(reply).toMatchObject({ message: 'Hello', recalls: [], tool_calls: [] });
  });

  it('stops at the limit: one last call in which no tool may be called', async () => {
    const model = scriptedModel([asks('one'), asks('two', 'three'), 'Enough']);
    const memory = fakeMemory();
    const reply = await respond({ ...tool, max_tool_calls: 2 }, model, memory);
    expect(memory.searches).toEqual(['one / 5', 'two / 5']);
    expect(model.requests.map((request) => request.toolChoice)).toEqual([undefined, undefined, 'none']);
    expect(reply.message).toBe('Enough');
    expect(reply.tool_calls.map(({ output }) => output.startsWith('No result: the limit of 2'))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each(['Let me look.', ''])('fails where the model goes on asking: %j is no message to send', async (text) => {
    const model = scriptedModel(() => ({ ...(asks('more') as object), text }));
    await expect(respond(tool, model)).rejects.toMatchObject({ code: 'agent_tool_limit' });
    expect(model.requests.length).toBe(9);
  });

  it('answers a call that makes no sense in words, and records it', async () => {
    const calls = [
      { id: 'a', name: 'send_email', input: { to: 'x' } },
      { id: 'b', name: 'search_memory', input: { q: 'food' } },
      { id: 'c', name: 'search_memory', input: { query: '  ' } },
      { id: 'd', name: 'search_memory', input: 'food' },
    ];
    const memory = fakeMemory();
    const reply = await respond(tool, scriptedModel([{ toolRequests: calls }, 'Hello']), memory);
    expect(memory.searches).toEqual([]);
    expect(reply.recalls).toEqual([]);
    expect(reply.tool_calls.map(({ name, input }) => ({ name, input }))).toEqual(
      calls.map(({ name, input }) => ({ name, input })),
    );
    expect(reply.tool_calls.map(({ output }) => output)).toEqual([
      'No result: there is no tool "send_email". The only tool is search_memory.',
      ...Array(3).fill('No result: the input must be {"query": "<what to look for>"}.'),
    ]);
  });

  it('says so when nothing was found', async () => {
    const reply = await respond(tool, scriptedModel([asks('food'), 'Hello']), fakeMemory([]));
    expect(reply.tool_calls[0]?.output).toBe('Nothing found.');
    expect(reply.recalls[0]?.items).toEqual([]);
  });

  it('fails when the memory fails', async () => {
    const memory = fakeMemory();
    memory.scope.search = () => Promise.reject(new Error('memory down'));
    await expect(respond(tool, scriptedModel([asks('food'), 'Hello']), memory)).rejects.toThrow('memory down');
  });
});

describe('an llm file', () => {
  const issues = (file: object) =>
    llm.schema.safeParse(file).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

  it('is of kind llm when it does not say', () => {
    expect(llm.schema.parse(none).kind).toBe('llm');
  });

  it('names its model with its settings', () => {
    const options = llm.schema.parse({ ...none, name: 'n', base_url: 'http://127.0.0.1:1/v1', temperature: 0 });
    expect(llm.models?.(options)).toEqual([
      {
        path: ['model_id'],
        settings: { model_id: 'builtin:scripted', base_url: 'http://127.0.0.1:1/v1', temperature: 0 },
        kind: 'chat',
        role: 'agent',
      },
    ]);
  });

  it('may and must show its memory where the memory is injected, and only there', () => {
    const use = (file: object) => llm.templates?.(llm.schema.parse(file), ['user_task', 'recipient']);
    expect(use(inject)).toEqual([
      {
        path: ['instructions'],
        source: INSTRUCTIONS,
        variables: ['user_task', 'recipient', 'memories'],
        requires: ['memories'],
      },
    ]);
    expect(use(tool)).toEqual([
      { path: ['instructions'], source: tool.instructions, variables: ['user_task', 'recipient'] },
    ]);
  });

  it('needs its instructions and its strategy, and refuses a limit that has no effect', () => {
    expect(issues({ model_id: 'builtin:echo' }).map((line) => line.split(':')[0])).toEqual([
      'instructions',
      'memory_strategy',
    ]);
    expect(issues({ ...inject, max_tool_calls: 3 })).toEqual([
      'max_tool_calls: max_tool_calls needs memory_strategy: tool',
    ]);
    expect(issues({ ...tool, max_tool_calls: 3 })).toEqual([]);
    expect(issues({ ...tool, temprature: 0 })[0]).toContain('temprature');
  });
});
