import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../../test/support/fake-call.ts';
import { chatReply, fakeChatModel } from '../../../test/support/fake-chat-model.ts';
import { type ChatReply, ModelError, type ModelErrorKind } from '../../contracts/model.ts';
import { type Inquiry, inquire } from './judge-inquiry.ts';
import { booleanAt, parseAnswer, parseAnswers } from './parse-reply.ts';

const leaked = booleanAt('leaked');
const jsonSchema = { name: 'verdict', schema: {} };

const single: Inquiry<boolean> = {
  numbers: [1],
  room: 100,
  request: () => ({ messages: [{ role: 'user', content: 'leaked?' }], jsonSchema }),
  parse: (text) => new Map([[1, parseAnswer(text, leaked)]]),
};
const several: Inquiry<boolean> = {
  numbers: [1, 2, 3],
  room: 100,
  request: (open) => ({ messages: [{ role: 'user', content: open.join() }], jsonSchema }),
  parse: (text, open) => parseAnswers(text, leaked, open),
};

/** A model that gives these replies in turn. */
function inTurn(...replies: (string | ChatReply | Error)[]) {
  let next = 0;
  return fakeChatModel(() => {
    const reply = replies[next++];
    if (reply === undefined) throw new Error('asked too often');
    if (reply instanceof Error) throw reply;
    return reply;
  });
}

const cutOff = chatReply('{"leaked": tr', { finishReason: 'cut_off' });
const refused = chatReply('I cannot help with that.', { finishReason: 'refused' });
const modelError = (kind: ModelErrorKind) => new ModelError(kind, kind, { modelId: 'fake:judge' });

describe('one question', () => {
  it('gives the verdict with the reply as it came', async () => {
    const text = '{"reasoning": "so", "evidence": "RX2019", "leaked": true}';
    const model = inTurn(chatReply(text, { modelVersion: 'judge-2026' }));
    expect((await inquire(single, model, fakeCall())).get(1)).toEqual({
      status: 'judged',
      value: true,
      reasoning: 'so',
      evidence: 'RX2019',
      raw: text,
      attempts: 1,
      model_version: 'judge-2026',
    });
    expect(model.requests).toEqual([{ messages: [{ role: 'user', content: 'leaked?' }], jsonSchema, maxTokens: 100 }]);
  });

  it("asks every model in the same words: how the schema travels is the client's affair", async () => {
    const model = fakeChatModel(() => '{"leaked": true}', { structuredOutput: false });
    await inquire(single, model, fakeCall());
    expect(model.requests[0]).toMatchObject({ jsonSchema });
  });

  it('asks again with twice the room after a cut-off, even one that looks whole', async () => {
    const whole = chatReply('{"leaked": false}', { finishReason: 'cut_off' });
    const model = inTurn(cutOff, whole, '{"leaked": true}');
    expect((await inquire(single, model, fakeCall())).get(1)).toMatchObject({
      status: 'judged',
      value: true,
      attempts: 3,
    });
    expect(model.requests.map((request) => request.maxTokens)).toEqual([100, 200, 400]);
  });

  it.each([
    ['malformed', 'It leaks.', 'It leaks.'],
    ['empty', ' \n', ' \n'],
    ['cut_off', cutOff, cutOff.text],
  ])('leaves it unjudged after three replies that are %s', async (reason, reply, raw) => {
    const model = inTurn(reply, reply, reply);
    expect((await inquire(single, model, fakeCall())).get(1)).toMatchObject({
      status: 'unjudged',
      reason,
      raw,
      attempts: 3,
    });
    expect(model.requests).toHaveLength(3);
  });

  it('names the reason of the last reply', async () => {
    const verdict = (await inquire(single, inTurn(cutOff, refused, 'prose'), fakeCall())).get(1);
    expect(verdict).toMatchObject({ status: 'unjudged', reason: 'malformed', raw: 'prose', attempts: 3 });
  });

  it('asks once more after a refusal, and no more after two', async () => {
    const twice = inTurn(refused, refused);
    expect((await inquire(single, twice, fakeCall())).get(1)).toMatchObject({
      status: 'unjudged',
      reason: 'refused',
      raw: 'I cannot help with that.',
      attempts: 2,
    });
    const once = inTurn(refused, '{"leaked": false}');
    expect((await inquire(single, once, fakeCall())).get(1)).toMatchObject({ value: false, attempts: 2 });
  });

  it('keeps the last reply where the model has no more room to give', async () => {
    const verdict = (await inquire(single, inTurn(cutOff, modelError('bad_request')), fakeCall())).get(1);
    expect(verdict).toMatchObject({ status: 'unjudged', reason: 'cut_off', attempts: 1 });
  });

  it('throws what the model throws', async () => {
    await expect(inquire(single, inTurn(modelError('bad_request')), fakeCall())).rejects.toThrow(ModelError);
    await expect(inquire(single, inTurn(cutOff, modelError('server')), fakeCall())).rejects.toThrow(ModelError);
  });
});

describe('several items in one question', () => {
  it('asks again only for what is still open', async () => {
    const model = inTurn(
      '{"verdicts": [{"number": 1, "leaked": true}, {"number": 3, "leaked": "?"}]}',
      '{"verdicts": [{"number": 1, "leaked": false}, {"number": 2, "leaked": false}]}',
      '{"verdicts": [{"number": 3, "leaked": true}]}',
    );
    const verdicts = await inquire(several, model, fakeCall());
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual(['1,2,3', '2,3', '3']);
    expect([1, 2, 3].map((number) => verdicts.get(number))).toMatchObject([
      { status: 'judged', value: true, attempts: 1 },
      { status: 'judged', value: false, attempts: 2 },
      { status: 'judged', value: true, attempts: 3 },
    ]);
  });

  it('leaves a missing item unjudged, alone', async () => {
    const reply = '{"verdicts": [{"number": 1, "leaked": true}, {"number": 3, "leaked": false}]}';
    const verdicts = await inquire(several, inTurn(reply, reply, reply), fakeCall());
    expect([1, 2, 3].map((number) => verdicts.get(number)?.status)).toEqual(['judged', 'unjudged', 'judged']);
    expect(verdicts.get(2)).toMatchObject({ reason: 'malformed', raw: reply, attempts: 3 });
  });

  it('takes nothing from a reply that was cut off', async () => {
    const half = chatReply('{"number": 1, "leaked": true} {"number": 2, "lea', { finishReason: 'cut_off' });
    const verdicts = await inquire(several, inTurn(half, half, half), fakeCall());
    expect([...verdicts.values()].map((verdict) => verdict.status === 'unjudged' && verdict.reason)).toEqual([
      'cut_off',
      'cut_off',
      'cut_off',
    ]);
  });
});
