import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { scriptedModel } from './scripted-model.ts';

const ask = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

describe('scriptedModel', () => {
  it('says its lines in order, keeps the requests and meters the calls', async () => {
    const model = scriptedModel([
      'one',
      { text: 'two', finishReason: 'cut_off', usage: { inputTokens: 4 } },
      new Error('three'),
    ]);
    const call = fakeCall();
    expect(await model.generate(ask('a'), call)).toMatchObject({ text: 'one', finishReason: 'stop', toolRequests: [] });
    expect(await model.generate(ask('b'), call)).toMatchObject({ text: 'two', finishReason: 'cut_off' });
    await expect(model.generate(ask('c'), call)).rejects.toThrow('three');
    await expect(model.generate(ask('d'), call)).rejects.toThrow('has 3 replies, and this is call 4');
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual(['a', 'b', 'c', 'd']);
    expect(call.spent.agent).toMatchObject({ calls: 2, input_tokens: 4 });
  });

  it('answers by rule', async () => {
    const model = scriptedModel((request, n) => `${n}: ${request.messages[0]?.content}`, {
      id: 'fake:x',
      structuredOutput: false,
    });
    expect((await model.generate(ask('a'), fakeCall())).text).toBe('0: a');
    expect((await model.generate(ask('b'), fakeCall())).text).toBe('1: b');
    expect([model.id, model.structuredOutput]).toEqual(['fake:x', false]);
  });

  it('takes tool requests as the reason to stop, and heeds an abort', async () => {
    const model = scriptedModel([{ toolRequests: [{ id: '1', name: 'f', input: {} }] }]);
    expect((await model.generate(ask('a'), fakeCall())).finishReason).toBe('tool_calls');
    await expect(model.generate(ask('a'), fakeCall({ signal: AbortSignal.abort('stop') }))).rejects.toBe('stop');
  });
});
