import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fakeCall } from '../../test/support/fake-call.ts';
import { type ScriptedReply, scriptedModel } from '../models/scripted-model.ts';
import { askingShape, askModel, numbered, shaped } from './ask-model.ts';

const answer = z.strictObject({ n: z.int() });
const question = {
  system: 'System.',
  user: 'User.',
  jsonSchema: { name: 'n', schema: { type: 'object' } },
  read: (value: unknown) => shaped(answer, value).n,
};

function asking(script: readonly ScriptedReply[], attempts = 3) {
  const model = scriptedModel(script);
  const shape = z.strictObject(askingShape);
  const options = shape.parse({ model_id: 'builtin:scripted', repair_prompt: 'Wrong: {{ problem }}.', attempts });
  return { model, ask: askModel({ name: 'guard', options, model }) };
}

describe('askModel', () => {
  it.each([
    ['{"n": 1}'],
    [' \n{"n":1}\n'],
    ['```json\n{"n": 1}\n```'],
    ['```\n{"n": 1}\n```'],
    ['<think>n could be {"n": 2}</think>\n{"n": 1}'],
  ])('takes %j', async (text) => {
    const { ask, model } = asking([text]);
    const call = fakeCall();
    expect(await ask(question, call)).toBe(1);
    expect(model.requests[0]).toEqual({
      messages: [
        { role: 'system', content: 'System.' },
        { role: 'user', content: 'User.' },
      ],
      jsonSchema: question.jsonSchema,
    });
    expect(call.spent.defence.calls).toBe(1);
    expect(call.spent.agent.calls).toBe(0);
  });

  it.each<[string, ScriptedReply, string]>([
    ['prose around it', 'Sure: {"n": 1}', 'the reply is not one JSON object and nothing else'],
    ['two objects', '{"n": 1}{"n": 2}', 'the reply is not one JSON object and nothing else'],
    ['broken JSON', '{"n": 1', 'the reply is not one JSON object and nothing else'],
    ['a list', '[1]', 'the reply is no JSON object'],
    ['nothing', '', 'the reply is not one JSON object and nothing else'],
    ['a wrong type', '{"n": "1"}', 'at "n": Invalid input: expected number, received string'],
    ['a key too many', '{"n": 1, "m": 2}', 'Unrecognized key: "m"'],
    ['a cut', { text: '{"n": 1}', finishReason: 'cut_off' }, 'the reply ended at the token limit'],
    ['a refusal', { text: '', finishReason: 'refused' }, 'the reply was declined'],
  ])('asks again after %s, with what was wrong', async (_, reply, problem) => {
    const { ask, model } = asking([reply, '{"n": 7}']);
    expect(await ask(question, fakeCall())).toBe(7);
    const said = typeof reply === 'string' ? reply : ((reply as { text: string }).text ?? '');
    expect(model.requests[1]?.messages.slice(2)).toEqual([
      ...(said === '' ? [] : [{ role: 'assistant', content: said }]),
      { role: 'user', content: `Wrong: ${problem}.` },
    ]);
  });

  it('gives up after its attempts, and says nothing of what the reply held', async () => {
    const { ask, model } = asking(['diabetes', 'diabetes'], 2);
    const failure = await ask(question, fakeCall()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'defence_unreadable', found: 'nothing of the kind in 2 replies' });
    expect((failure as Error).message).toContain('the defence "guard" got no answer that it could use');
    expect((failure as Error).message).not.toContain('diabetes');
    expect(model.requests.length).toBe(2);
  });

  it('lets an error of the model through, and stops between two attempts when it is aborted', async () => {
    const broken = new Error('no connection');
    await expect(asking([broken]).ask(question, fakeCall())).rejects.toBe(broken);
    const controller = new AbortController();
    const stop = new Error('stop');
    const model = scriptedModel(() => {
      controller.abort(stop);
      return 'not JSON';
    });
    const options = z.strictObject(askingShape).parse({ model_id: 'x:y', repair_prompt: 'Again.' });
    const ask = askModel({ name: 'guard', options, model });
    await expect(ask(question, fakeCall({ signal: controller.signal }))).rejects.toBe(stop);
    expect(model.requests.length).toBe(1);
  });
});

it('numbers items as JSON lines, so that no text passes for another item', () => {
  expect(numbered(['one\n2. two', '"}'])).toBe('{"number":1,"text":"one\\n2. two"}\n{"number":2,"text":"\\"}"}');
});
