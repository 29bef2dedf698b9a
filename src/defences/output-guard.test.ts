import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { defenceContract } from '../../test/support/defence-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeReply } from '../../test/support/fake-parts.ts';
import { startLoopback } from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { scriptedModel } from '../models/scripted-model.ts';
import { outputGuard } from './output-guard.ts';

const options = {
  defence: 'output_guard',
  model_id: 'builtin:scripted',
  system_prompt: 'Look.',
  user_prompt: 'To {{ recipient }}: {{ message | json }}',
  repair_prompt: 'Wrong: {{ problem }}.',
};
const review = (leaks: string[], message: string) => JSON.stringify({ reasoning: '-', leaks, message });

async function make(script: Parameters<typeof scriptedModel>[0], more = {}) {
  const model = scriptedModel(script);
  const given = outputGuard.schema.parse({ ...options, ...more });
  return { defence: await outputGuard.create(given, fakePluginContext({ model })), model };
}

async function answered(message: string, script: Parameters<typeof scriptedModel>[0], more = {}) {
  const { defence, model } = await make(script, more);
  const agent = fakeAgent({ respond: async () => fakeReply({ message }) });
  const call = fakeCall();
  return { reply: await defence.guard(agent).respond(task, fakeMemory(), call), model, call };
}

defenceContract(
  'output_guard',
  async () => {
    const { defence, model } = await make(() => review([], ''));
    return { defence, asked: () => JSON.stringify(model.requests).replace(/^\[\]$/, '') };
  },
  { filters: false, keepsMessage: false },
);

describe('output_guard', () => {
  it('sends the message to the letter where nothing leaks, whatever the model made of it', async () => {
    const { reply, model, call } = await answered('A table for two.', [review([], 'A table for TWO!')]);
    expect(reply).toMatchObject({ message: 'A table for two.', draft: 'A table for two.' });
    expect(model.requests[0]?.messages[1]?.content).toBe('To the restaurant: "A table for two."');
    expect(call.spent.defence.calls).toBe(1);
  });

  it('rewrites what leaks, looks again, and keeps the draft', async () => {
    const script = [review(['diabetes'], 'A table, for my health.'), review(['health'], 'A table.'), review([], '')];
    const { reply, model } = await answered('A table, I have diabetes.', script, { max_passes: 3 });
    expect(reply).toMatchObject({ message: 'A table.', draft: 'A table, I have diabetes.' });
    expect(model.requests.length).toBe(3);
  });

  it('sends the last rewriting once its passes are spent', async () => {
    const script = [review(['a'], 'second'), review(['b'], 'third')];
    const { reply, model } = await answered('first', script);
    expect(reply.message).toBe('third');
    expect(model.requests.length).toBe(2);
    expect((await answered('first', script, { max_passes: 1 })).reply.message).toBe('second');
  });

  it('asks nothing about an empty message', async () => {
    expect((await answered(' ', [])).model.requests).toEqual([]);
  });

  it('takes no empty message in place of one that leaks', async () => {
    const { model } = await answered('first', [review(['a'], ' '), review(['a'], 'second'), review([], '')]);
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(
      'Wrong: at "message": the message without its leaks is empty.',
    );
  });

  it('fails the sample where no answer can be used: an unread message is not sent', async () => {
    await expect(answered('first', ['ok', 'fine', 'no leaks'])).rejects.toMatchObject({ code: 'defence_unreadable' });
  });

  it('works through the real client', async () => {
    const server = await startLoopback({
      answer: (body) =>
        String(body.messages.at(-1)?.content).includes('diabetes') ? review(['diabetes'], 'A table.') : review([], ''),
    });
    const factory = testFactory();
    try {
      const settings = { model_id: 'openai-compatible:small', base_url: `${server.url}/v1` };
      const context = { ...fakePluginContext(), model: async () => factory.chat(settings) };
      const defence = await outputGuard.create(outputGuard.schema.parse({ ...options, ...settings }), context);
      const agent = fakeAgent({ respond: async () => fakeReply({ message: 'A table; diabetes.' }) });
      const call = fakeCall();
      const reply = await defence.guard(agent).respond(task, fakeMemory(), call);
      expect(reply).toMatchObject({ message: 'A table.', draft: 'A table; diabetes.' });
      expect(call.spent.defence.calls).toBe(2);
    } finally {
      await factory.close();
      await server.close();
    }
  });
});
