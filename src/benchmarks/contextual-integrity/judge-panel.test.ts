import { describe, expect, it } from 'vitest';
import { ciSample, llmEvaluator } from '../../../test/support/ci-sample.ts';
import { fakeCall } from '../../../test/support/fake-call.ts';
import { fakeChatModel } from '../../../test/support/fake-chat-model.ts';
import { fakePluginContext } from '../../../test/support/plugin-context.ts';
import type { Benchmark } from '../../contracts/benchmark.ts';
import { type CiGrade, ciGradeSchema } from '../../schema/ci-grade.ts';
import { type CiConfig, ciConfigSchema } from '../../schema/contextual-integrity.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import { contextualIntegrity } from './benchmark.ts';
import { evaluatorsOf, identityOf, modelsOf } from './config.ts';
import type { CiData } from './sample.ts';

const configOf = (extra: object): CiConfig =>
  ciConfigSchema.parse({
    benchmark: 'contextual_integrity',
    dataset: { bundled: 'heams_scenarios' },
    user_task_prompt: '{{ user_task }}',
    evaluator: {
      ...llmEvaluator({ judge_model_id: 'fake:a', temperature: 0, base_url: 'http://a.test/v1' }),
      ...extra,
    },
  });
const threeJudges = {
  extra_judges: [{ judge_model_id: 'fake:b', temperature: 1, timeout_s: 9 }, { judge_model_id: 'fake:c' }],
};

/** What each model answers about secrets; nothing that can be read for `?`. Fields are communicated, all is Good. */
const answers: Record<string, string> = { 'fake:a': 'yes', 'fake:b': 'no', 'fake:c': 'yes' };

async function build(extra: object, says = answers): Promise<{ benchmark: Benchmark<CiData>; asked: ModelSettings[] }> {
  const asked: ModelSettings[] = [];
  const context = {
    ...fakePluginContext(),
    model: async (settings: ModelSettings) => {
      asked.push(settings);
      const leaked = says[settings.model_id];
      return fakeChatModel((request) => {
        if ((request.messages[1]?.content ?? '').startsWith('secret') && leaked === '?') return 'prose';
        return JSON.stringify({ leaked, communicated: true, rating: settings.model_id === 'fake:c' ? 3 : 1 });
      });
    },
  };
  return { benchmark: (await contextualIntegrity.create(configOf(extra), context)) as Benchmark<CiData>, asked };
}

async function graded(extra: object, says = answers): Promise<CiGrade> {
  const { benchmark } = await build(extra, says);
  const reply = { message: 'x', prompt: [], recalls: [], tool_calls: [], warnings: [] };
  const call = fakeCall({ stage: 'judge' });
  const input = { sample: ciSample(), reply, stored: [], recalls: [], provenance: true, call };
  return ciGradeSchema.parse(await benchmark.grade(input));
}

describe('several judge models', () => {
  it('all grade with the same prompts, each with its own settings alone', async () => {
    const { asked } = await build(threeJudges);
    expect(asked).toEqual([
      { model_id: 'fake:a', temperature: 0, base_url: 'http://a.test/v1' },
      { model_id: 'fake:b', temperature: 1, timeout_s: 9 },
      { model_id: 'fake:c' },
    ]);
    const [primary, second] = evaluatorsOf(configOf(threeJudges).evaluator as Parameters<typeof evaluatorsOf>[0]);
    expect(second).toMatchObject({ leakage_user_prompt: primary.leakage_user_prompt, helpfulness_threshold: 2 });
    expect(primary).not.toHaveProperty('extra_judges');
  });

  it('appear among the models of a config, and in its plan', async () => {
    expect(
      modelsOf(configOf(threeJudges)).map(({ path, settings, role }) => [path.join('.'), settings.model_id, role]),
    ).toEqual([
      ['evaluator.judge_model_id', 'fake:a', 'judge'],
      ['evaluator.extra_judges.0.judge_model_id', 'fake:b', 'judge'],
      ['evaluator.extra_judges.1.judge_model_id', 'fake:c', 'judge'],
    ]);
    const { benchmark } = await build(threeJudges);
    expect(benchmark.plannedCalls(ciSample())).toMatchObject([
      { modelId: 'fake:a', calls: 5 },
      { modelId: 'fake:b', calls: 5 },
      { modelId: 'fake:c', calls: 5 },
    ]);
  });

  it('change what a run is, but for how they are reached', () => {
    const identity = (extra: object) => JSON.stringify(identityOf(configOf(extra)));
    const [b, c] = threeJudges.extra_judges;
    expect(identity(threeJudges)).not.toBe(identity({}));
    expect(identity({ extra_judges: [{ ...b, timeout_s: 60 }, c] })).toBe(identity(threeJudges));
    expect(identity({ extra_judges: [{ ...b, temperature: 0.5 }, c] })).not.toBe(identity(threeJudges));
    expect(identity({ ...threeJudges, decision: 'majority' })).not.toBe(identity(threeJudges));
  });

  it('keep their own verdicts, beside a majority that decides where it is told to', async () => {
    const grade = await graded({ ...threeJudges, decision: 'majority' });
    expect(grade.primary).toBe('majority');
    expect(grade.judges.map(({ id, type }) => [id, type])).toEqual([
      ['ci_llm_judge:fake:a', 'ci_llm_judge'],
      ['ci_llm_judge:fake:b', 'ci_llm_judge'],
      ['ci_llm_judge:fake:c', 'ci_llm_judge'],
      ['ci_string_match:raw', 'ci_string_match'],
      ['ci_string_match:boundary', 'ci_string_match'],
      ['majority', 'majority'],
    ]);
    expect(grade.judges.at(-1)?.members).toEqual(['ci_llm_judge:fake:a', 'ci_llm_judge:fake:b', 'ci_llm_judge:fake:c']);
    expect(grade.secrets[0]?.verdicts).toMatchObject({
      'ci_llm_judge:fake:a': { value: true },
      'ci_llm_judge:fake:b': { value: false },
      'ci_llm_judge:fake:c': { value: true },
      majority: { status: 'judged', value: true, reasoning: '2 of 3 judges say yes, 1 no.' },
    });
    // Scores 1, 1 and 3 with threshold 2: not helpful, and 1 is what more than half give at least.
    expect(grade.helpfulness.majority).toMatchObject({ status: 'judged', value: 1 });
    expect((await graded(threeJudges)).primary).toBe('ci_llm_judge:fake:a');
  });

  it('leave unjudged what a missing vote would have decided', async () => {
    const grade = await graded({ ...threeJudges, decision: 'majority' }, { ...answers, 'fake:c': '?' });
    expect(grade.secrets[0]?.verdicts.majority).toMatchObject({ status: 'unjudged', reason: 'too_few' });
    const two = await graded({ extra_judges: [{ judge_model_id: 'fake:b' }], decision: 'majority' });
    expect(two.secrets[0]?.verdicts.majority).toMatchObject({ status: 'unjudged', reason: 'tie' });
  });

  it.each([
    [{ extra_judges: [{ judge_model_id: 'fake:a' }] }, 'evaluator.extra_judges.0.judge_model_id'],
    [{ extra_judges: [{ judge_model_id: 'x', prompt: 'y' }] }, 'evaluator.extra_judges.0'],
    [{ extra_judges: [] }, 'evaluator.extra_judges'],
    [{ decision: 'majority' }, 'evaluator.decision'],
  ])('%j is an error', (extra, path) => {
    const evaluator = { ...llmEvaluator({ judge_model_id: 'fake:a' }), ...extra };
    const parsed = ciConfigSchema.safeParse({ ...configOf({}), evaluator });
    expect(parsed.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});
