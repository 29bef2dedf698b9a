import { describe, expect, it } from 'vitest';
import { batchPrompts, ciSample, llmEvaluator } from '../../../test/support/ci-sample.ts';
import { fakeCall } from '../../../test/support/fake-call.ts';
import { fakeChatModel } from '../../../test/support/fake-chat-model.ts';
import { fakeReply } from '../../../test/support/fake-parts.ts';
import type { ChatRequest } from '../../contracts/model.ts';
import { type CiGrade, ciGradeSchema } from '../../schema/ci-grade.ts';
import { type CiConfig, type CiLlmEvaluator, ciConfigSchema } from '../../schema/contextual-integrity.ts';
import type { Json } from '../../schema/json.ts';
import { grade } from './grade.ts';
import { judgeIdentity, llmJudge, llmJudgeId } from './judge-llm.ts';
import { stringJudge } from './judge-string.ts';
import { besideEarlier, knownVerdicts, readEarlier, regradedConfig } from './regrade.ts';

const yes = { leaked: true, communicated: true, rating: 'Good' };

/** Grades one message with a model that says yes to everything, and notes what it was asked. */
async function graded(evaluator: CiLlmEvaluator, earlier?: CiGrade, sample = ciSample()) {
  const asked: string[] = [];
  const model = fakeChatModel((request: ChatRequest) => {
    asked.push(request.messages[1]?.content.split('\n')[0] ?? '');
    return JSON.stringify(yes);
  });
  const made = await grade(
    { judges: [llmJudge(evaluator, model), stringJudge('raw')], helpfulnessThreshold: 2 },
    {
      sample,
      reply: fakeReply({ message: 'Hello from Alice Carter.' }),
      stored: [],
      recalls: [],
      provenance: true,
      call: fakeCall(),
      ...(earlier ? { earlier: earlier as unknown as Json } : {}),
    },
  );
  expect(ciGradeSchema.parse(made)).toEqual(made);
  return { made, asked };
}

describe('the identity of a judge', () => {
  const base = judgeIdentity(llmEvaluator());

  it.each<[string, Partial<CiLlmEvaluator>]>([
    ['another model', { judge_model_id: 'fake:other' }],
    ['another prompt', { leakage_user_prompt: 'other {{ value }} {{ message }}' }],
    ['another temperature', { temperature: 0.5 }],
    ['another address', { base_url: 'http://127.0.0.1:1/v1' }],
    ['another grading', batchPrompts],
  ])('changes with %s', (_what, change) => {
    expect(judgeIdentity(llmEvaluator(change))).not.toBe(base);
  });

  it.each<[string, Partial<CiLlmEvaluator>]>([
    ['the threshold', { helpfulness_threshold: 3 }],
    ['a timeout', { timeout_s: 5 }],
    ['the key variable', { api_key_env: 'MY_KEY' }],
    ['prompts that its grading does not use', { leakage_batch_user_prompt: 'x', coverage_batch_user_prompt: 'y' }],
    ['ids that are taken', { taken_judge_ids: ['ci_llm_judge:fake:judge'] }],
  ])('does not change with %s', (_what, change) => {
    expect(judgeIdentity(llmEvaluator(change))).toBe(base);
  });

  it('stands behind a name that is taken', () => {
    expect(llmJudgeId(llmEvaluator())).toBe('ci_llm_judge:fake:judge');
    const taken = llmEvaluator({ taken_judge_ids: ['ci_llm_judge:fake:judge'] });
    expect(llmJudgeId(taken)).toBe(`ci_llm_judge:fake:judge#${base}`);
  });
});

describe('grading again', () => {
  it('asks the same judge for nothing that it has answered', async () => {
    const first = await graded(llmEvaluator());
    expect(first.asked).toHaveLength(5);
    const second = await graded(llmEvaluator(), first.made);
    expect(second.asked).toEqual([]);
    expect(second.made).toEqual(first.made);
  });

  it('asks again for what was left unjudged, and for that alone', async () => {
    const { made } = await graded(llmEvaluator());
    const hole = structuredClone(made);
    const id = made.primary;
    const [health] = hole.secrets;
    if (!health) throw new Error('the sample has secrets');
    health.verdicts[id] = { status: 'unjudged', reason: 'malformed', detail: 'no JSON', raw: '?', attempts: 3 };
    delete hole.helpfulness[id];
    const { made: mended, asked } = await graded(llmEvaluator(), hole);
    expect(asked).toEqual([expect.stringContaining('secret Health'), 'Book a room for my trip.']);
    expect(mended.secrets[0]?.verdicts[id]).toMatchObject({ status: 'judged', value: true });
    expect(mended.helpfulness[id]).toMatchObject({ status: 'judged', value: 2 });
  });

  it('asks about open items alone where one question covers several', async () => {
    const evaluator = llmEvaluator(batchPrompts);
    const { made } = await graded({ ...evaluator, grading: 'per_value' } as CiLlmEvaluator);
    const known = structuredClone(made);
    for (const judge of known.judges) if (judge.type === 'ci_llm_judge') judge.identity = judgeIdentity(evaluator);
    delete known.secrets[1]?.verdicts[made.primary];
    const { asked } = await graded(evaluator, known);
    expect(asked).toEqual([
      'secrets 2:Passport=P1234567;',
      'secrets 2:Passport=P1234567;',
      'secrets 2:Passport=P1234567;',
    ]);
  });

  it('keeps the verdicts of another judge beside the new ones, which become primary', async () => {
    const { made } = await graded(llmEvaluator());
    const { made: again, asked } = await graded(llmEvaluator({ judge_model_id: 'fake:other' }), made);
    expect(asked).toHaveLength(5);
    expect(again.primary).toBe('ci_llm_judge:fake:other');
    expect(again.judges.map(({ id }) => id)).toEqual([
      'ci_llm_judge:fake:other',
      'ci_string_match:raw',
      'ci_llm_judge:fake:judge',
    ]);
    expect(again.judges.map(({ earlier }) => earlier)).toEqual([undefined, undefined, true]);
    const both = ['ci_llm_judge:fake:judge', 'ci_llm_judge:fake:other', 'ci_string_match:raw'];
    for (const item of [...again.secrets, ...again.fields]) expect(Object.keys(item.verdicts).sort()).toEqual(both);
    expect(again.secrets[0]?.verdicts['ci_llm_judge:fake:judge']).toEqual(made.secrets[0]?.verdicts[made.primary]);
    expect(Object.keys(again.helpfulness).sort()).toEqual(both);
  });

  it('sets the same model with other prompts apart, and knows it again later', async () => {
    const { made } = await graded(llmEvaluator());
    const changed = llmEvaluator({ temperature: 0.5, taken_judge_ids: ['ci_llm_judge:fake:judge'] });
    const { made: again } = await graded(changed, made);
    const id = `ci_llm_judge:fake:judge#${judgeIdentity(changed)}`;
    expect(again.primary).toBe(id);
    expect(again.judges.map((judge) => judge.id)).toContain('ci_llm_judge:fake:judge');
    const third = await graded(llmEvaluator(), again);
    expect(third.asked).toEqual([]);
    expect(third.made.primary).toBe('ci_llm_judge:fake:judge');
    expect(third.made.judges[0]).not.toHaveProperty('earlier');
    expect(third.made.judges.find((judge) => judge.id === id)).toMatchObject({ earlier: true });
  });

  it('takes how far an item came from the earlier grade, and nothing about a value that was not annotated', async () => {
    const { made } = await graded(llmEvaluator());
    const before = structuredClone(made);
    for (const item of before.secrets) item.exposure = { stored: true, recalled: true, by: 'text' };
    const other = ciSample({ disallowed: { Health: 'RX2019', Passport: 'another number' } });
    const { made: again, asked } = await graded(llmEvaluator(), before, other);
    expect(asked).toEqual([expect.stringContaining('secret Passport = another number')]);
    expect(again.secrets.map(({ exposure }) => exposure.by)).toEqual(['text', 'provenance']);
  });

  it('judges anew where the earlier grade has another shape', () => {
    expect(readEarlier({ judges: [] })).toBeUndefined();
    expect(readEarlier(undefined)).toBeUndefined();
  });

  it('takes nobody without an identity for the same judge', async () => {
    const { made } = await graded(llmEvaluator());
    const nameless = structuredClone(made);
    for (const judge of nameless.judges) delete judge.identity;
    const [info] = made.judges;
    if (!info) throw new Error('a grade has judges');
    expect(knownVerdicts(nameless, info, ciSample()).secrets).toEqual([undefined, undefined]);
    expect(knownVerdicts(nameless, { id: 'x', type: 'ci_string_match' }, ciSample()).helpfulness).toBeUndefined();
    // Of two verdicts under one id the new one stays.
    expect(besideEarlier(made, nameless).judges).toEqual(made.judges);
  });
});

describe('the config for grading again', () => {
  async function* from(grades: readonly CiGrade[]): AsyncGenerator<Json> {
    for (const made of grades) yield made as unknown as Json;
  }
  const config = (evaluator: object): CiConfig =>
    ciConfigSchema.parse({
      benchmark: 'contextual_integrity',
      dataset: { bundled: 'heams_scenarios' },
      user_task_prompt: '{{ user_task }}',
      evaluator,
    });

  it('leaves a judge its name where nobody else has it', async () => {
    const { made } = await graded(llmEvaluator());
    const same = config(llmEvaluator());
    expect(await regradedConfig(same, { grades: from([made]) })).toEqual(same);
    const other = await regradedConfig(same, { judgeModelId: 'fake:other', grades: from([made]) });
    expect(other.evaluator).toMatchObject({ judge_model_id: 'fake:other' });
    expect(other.evaluator).not.toHaveProperty('taken_judge_ids');
  });

  it('notes the names that judges with other prompts have', async () => {
    const { made } = await graded(llmEvaluator());
    const changed = await regradedConfig(config(llmEvaluator({ temperature: 1 })), { grades: from([made]) });
    expect(changed.evaluator).toMatchObject({ taken_judge_ids: ['ci_llm_judge:fake:judge'] });
  });

  it('refuses a judge model where there is none to replace', async () => {
    const string = config({ type: 'ci_string_match' });
    expect(await regradedConfig(string, { grades: from([]) })).toBe(string);
    await expect(regradedConfig(string, { judgeModelId: 'fake:other', grades: from([]) })).rejects.toMatchObject({
      code: 'grade_no_judge_model',
    });
  });
});
