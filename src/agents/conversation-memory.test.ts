import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { OwnMemoryOptions } from '../contracts/memory.ts';
import type { ChatModel } from '../contracts/model.ts';
import { type ScriptedReply, scriptedModel } from '../models/scripted-model.ts';
import { llm } from './llm.ts';

const facts = [
  { id: 'a', key: 'A', text: 'A: 1', session: 's1' },
  { id: 'b', key: 'B', text: 'B: 2', session: 's1' },
  { id: 'c', key: 'C', text: 'C: 3', session: 's2' },
];
const bySession: OwnMemoryOptions = {
  telling: (given) => `Remember: ${given.map(({ text }) => text).join('; ')}`,
  each: 'session',
};

async function conversing(model: ChatModel, options = bySession) {
  const file = { model_id: 'test:x', memory_strategy: 'none', instructions: 'You help {{ recipient }}.' };
  const agent = await llm.create(llm.schema.parse(file), fakePluginContext({ model }));
  const backend = agent.ownMemory?.(options);
  if (!backend) throw new Error('memory_strategy: none has its own memory');
  const memory = (scopeId: string) => ({ ...fakeMemory(), scopeId, capabilities: backend.capabilities });
  return { agent, backend, memory };
}

memoryContract('a conversation as memory', async () => (await conversing(scriptedModel(() => 'Noted.'))).backend, {
  capabilities: {
    stores: false,
    rewrites: true,
    provenance: false,
    honours_k: false,
    needs_network: false,
    needs_key: false,
    external: true,
  },
});

describe('a conversation as memory', () => {
  it('tells each session in a turn, keeps the answers, and puts all of it before the task', async () => {
    const model = scriptedModel(['Noted.', '', 'Dear restaurant', 'Who are you?']);
    const { agent, backend, memory } = await conversing(model);
    const scope = await backend.open('s', fakeCall({ stage: 'prime' }));
    await scope.write(facts);
    const reply = await agent.respond(task, memory('s'), fakeCall());
    const told = [
      { role: 'user', content: 'Remember: A: 1; B: 2' },
      { role: 'assistant', content: 'Noted.' },
      // Nothing was answered to this one, and an empty turn is none.
      { role: 'user', content: 'Remember: C: 3' },
    ];
    expect(model.requests.map(({ messages }) => messages)).toEqual([
      told.slice(0, 1),
      told,
      [{ role: 'system', content: 'You help the restaurant.' }, ...told, ...task.turns],
    ]);
    expect(reply.prompt).toEqual(model.requests[2]?.messages);
    expect(reply.recalls).toEqual([
      { query: task.query, items: facts.map(({ id, text }) => ({ text, fact_ids: [id] })) },
    ]);
    expect(reply.external).toEqual({ recalls_known: true });
    await scope.dispose();
    expect((await agent.respond(task, memory('s'), fakeCall())).recalls).toEqual([]);
  });

  it('names the facts of a turn that tells them in its own words', async () => {
    const { agent, backend, memory } = await conversing(
      scriptedModel(() => 'Noted.'),
      {
        telling: (given) => `There are ${given.length} things.`,
        each: 'fact',
      },
    );
    const scope = await backend.open('s', fakeCall());
    await scope.write(facts.slice(0, 2));
    expect((await agent.respond(task, memory('s'), fakeCall())).recalls[0]?.items).toEqual([
      { text: 'There are 1 things.', fact_ids: ['a'] },
      { text: 'There are 1 things.', fact_ids: ['b'] },
    ]);
  });

  it('is nothing to a task that was not told anything, and fails with its model', async () => {
    const down = new Error('no route to host');
    const replies: ScriptedReply[] = ['Hello'];
    const { agent, backend } = await conversing(scriptedModel([...replies, down]));
    const reply = await agent.respond(task, fakeMemory(), fakeCall());
    expect(reply).not.toHaveProperty('external');
    const scope = await backend.open('s', fakeCall());
    await expect(scope.write(facts)).rejects.toBe(down);
  });
});
