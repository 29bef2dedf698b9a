import { describe, expect, it } from 'vitest';
import { facts, fakeMemory, task } from '../../test/support/agent-contract.ts';
import { defenceContract, echoAgent } from '../../test/support/defence-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { startLoopback } from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { type ScriptedReply, scriptedModel } from '../models/scripted-model.ts';
import { minimiser } from './minimiser.ts';

const options = minimiser.schema.parse({
  defence: 'minimiser',
  model_id: 'builtin:scripted',
  system_prompt: 'Pick.',
  user_prompt: 'For {{ recipient }}, {{ query }}:\n{{ items }}',
  repair_prompt: 'Wrong: {{ problem }}.',
});
const item = (i: number) => ({ text: facts[i]?.text ?? '', fact_ids: [`f${i}`] });

async function make(script: Parameters<typeof scriptedModel>[0]) {
  const model = scriptedModel(script);
  return { defence: await minimiser.create(options, fakePluginContext({ model })), model };
}

defenceContract(
  'minimiser',
  async () => {
    const { defence, model } = await make((request) => {
      const count = request.messages.at(-1)?.content.match(/"number":/g)?.length ?? 0;
      return JSON.stringify({ needed: Array.from({ length: count }, (_, i) => i + 1) });
    });
    return { defence, asked: () => JSON.stringify(model.requests).replace(/^\[\]$/, '') };
  },
  { filters: true, keepsMessage: true },
);

describe('minimiser', () => {
  const answered = async (script: readonly ScriptedReply[]) => {
    const { defence, model } = await make(script);
    const call = fakeCall();
    const reply = await defence.guard(echoAgent().agent).respond(task, fakeMemory(), call);
    return { reply, model, call };
  };

  it('lets through what the model needs, in the order of the memory, and keeps the rest', async () => {
    const { reply, model, call } = await answered(['{"reasoning": "…", "needed": [3, 1]}']);
    expect(reply.message).toBe(`${facts[0]?.text}\n${facts[2]?.text}`);
    expect(reply.recalls).toEqual([
      { query: 'book a table', requested_k: 5, items: [item(0), item(2)], withheld: [item(1)] },
    ]);
    expect(model.requests[0]?.messages[1]?.content).toBe(
      'For the restaurant, book a table:\n{"number":1,"text":"Name: Zoë Müller"}\n' +
        '{"number":2,"text":"Illness: type-2 diabetes"}\n' +
        '{"number":3,"text":"Chat: Mum: how are you?\\nZoë: my DIABETES is better"}',
    );
    expect(call.spent.defence.calls).toBe(1);
  });

  it('keeps everything back where the task needs nothing', async () => {
    const { reply } = await answered(['{"needed": []}']);
    expect(reply.message).toBe('');
    expect(reply.recalls[0]?.withheld?.length).toBe(3);
  });

  it('asks again about a number that there is not, then fails', async () => {
    const { model } = await answered(['{"needed": [4]}', '{"needed": [1]}']);
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(
      'Wrong: at "needed": there is no item 4; the items are 1 to 3.',
    );
    const wrong = '{"needed": [0]}';
    await expect(answered([wrong, wrong, wrong])).rejects.toMatchObject({ code: 'defence_unreadable' });
  });

  it('asks about each search of an agent with tools, and about none that finds nothing', async () => {
    const memory = fakeMemory();
    const spec = { name: 'search', description: '', inputSchema: {} };
    const run = async () => ({ content: 'all', recall: { query: 'again', items: [item(1)] } });
    const { defence, model } = await make(['{"needed": [1]}', '{"needed": []}']);
    const guarded = defence.guard(echoAgent().agent);
    const reply = await guarded.respond(
      task,
      { ...memory, scope: { ...memory.scope, tools: [{ spec, run }] } },
      fakeCall(),
    );
    expect(reply.message).toBe(`${facts[0]?.text}\nNothing found.`);
    expect(model.requests.length).toBe(2);
    const empty = await make([]);
    await empty.defence.guard(echoAgent().agent).respond(task, fakeMemory([]), fakeCall());
    expect(empty.model.requests.length).toBe(0);
  });

  it('works through the real client', async () => {
    const server = await startLoopback({ answer: (_, n) => (n === 0 ? 'Sure!' : '{"reasoning": "-", "needed": [1]}') });
    const factory = testFactory();
    try {
      const settings = { model_id: 'openai-compatible:small', base_url: `${server.url}/v1` };
      const context = { ...fakePluginContext(), model: async () => factory.chat(settings) };
      const defence = await minimiser.create({ ...options, ...settings }, context);
      const call = fakeCall();
      const reply = await defence.guard(echoAgent().agent).respond(task, fakeMemory(), call);
      expect(reply.message).toBe('Name: Zoë Müller');
      expect(call.spent.defence).toMatchObject({ calls: 2, unpriced_calls: 2 });
      expect(call.spent.agent.calls).toBe(0);
    } finally {
      await factory.close();
      await server.close();
    }
  });
});
