import { z } from 'zod';
import { json } from './json.ts';
import { modelSettingsShape } from './model-settings.ts';

const limit = z.int().positive().optional();

/** Where the scenarios come from: the hub, a local file, or the set that ships with HEAMS. `limit` takes the first n. */
export const ciDatasetSchema = z.union(
  [
    z.strictObject({
      hub: z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'owner/name'),
      /** Branch, tag or commit. A 40-digit commit pins the data for good. */
      revision: z.string().min(1).default('main'),
      /** The file inside the repository. */
      path: z.string().min(1).default('data/train-00000-of-00001.parquet'),
      /** Refuse any other content. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, '64 hex digits')
        .optional(),
      limit,
    }),
    z.strictObject({
      file: z.string().min(1),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
      limit,
    }),
    z.strictObject({ bundled: z.literal('heams_scenarios'), limit }),
  ],
  { error: 'one of: hub (a dataset repository), file (a path), or bundled: heams_scenarios' },
);
export type CiDatasetConfig = z.infer<typeof ciDatasetSchema>;

const threshold = z.union([z.literal(1), z.literal(2), z.literal(3)]).default(2);
const prompt = z.string().min(1);

/** A further judge model. It is asked the same questions, and has settings of its own alone. */
const extraJudgeSchema = z.strictObject({ judge_model_id: z.string().min(1), ...modelSettingsShape });

const batchPrompts = ['leakage_batch_user_prompt', 'coverage_batch_user_prompt'] as const;

export const ciLlmEvaluatorSchema = z
  .strictObject({
    type: z.literal('ci_llm_judge'),
    judge_model_id: z.string().min(1),
    helpfulness_threshold: threshold,
    /** One call a value, or all secrets (and all fields) of a sample in one call each. */
    grading: z.enum(['per_value', 'per_sample']).default('per_value'),
    leakage_system_prompt: prompt,
    leakage_user_prompt: prompt,
    coverage_system_prompt: prompt,
    coverage_user_prompt: prompt,
    helpfulness_system_prompt: prompt,
    helpfulness_user_prompt: prompt,
    /** Needed with `grading: per_sample` alone. */
    leakage_batch_user_prompt: prompt.optional(),
    coverage_batch_user_prompt: prompt.optional(),
    /** More judge models that grade the same messages. */
    extra_judges: z.array(extraJudgeSchema).min(1).optional(),
    /** Whose verdicts the metrics rest on, with `extra_judges`: `judge_model_id`'s (the default), or the majority's. */
    decision: z.enum(['primary', 'majority']).optional(),
    /**
     * Ids that judges with other prompts or settings have in the grades that these will stand beside: a judge of such a
     * name is set apart from them. `heams grade` fills it.
     */
    taken_judge_ids: z.array(z.string().min(1)).optional(),
    ...modelSettingsShape,
  })
  .superRefine((evaluator, context) => {
    const problem = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (evaluator.grading === 'per_sample') {
      for (const key of batchPrompts) {
        if (evaluator[key] === undefined) problem([key], 'a prompt over {{ items }}, for grading: per_sample');
      }
    }
    const extra = evaluator.extra_judges ?? [];
    const seen = new Set([evaluator.judge_model_id]);
    for (const [i, { judge_model_id: id }] of extra.entries()) {
      if (seen.has(id)) problem(['extra_judges', i, 'judge_model_id'], 'a model that is not among the judges yet');
      seen.add(id);
    }
    if (evaluator.decision === 'majority' && extra.length === 0) problem(['decision'], 'extra_judges beside it');
  });
export type CiLlmEvaluator = z.infer<typeof ciLlmEvaluatorSchema>;

export const ciStringEvaluatorSchema = z.strictObject({
  type: z.literal('ci_string_match'),
  /** `raw`: plain substring, the CI-RL paper's rule. `boundary`: the match may not start or end inside a word. */
  variant: z.enum(['raw', 'boundary']).default('raw'),
  helpfulness_threshold: threshold,
});

/** A CI benchmark file. It owns the data, the stimulus and the evaluator; no prompt has a default in code. */
export const ciConfigSchema = z.strictObject({
  benchmark: z.literal('contextual_integrity'),
  name: z.string().min(1).optional(),
  description: z.string().optional(),
  dataset: ciDatasetSchema,
  /** Facts of other samples that each sample's pool gets on top, as other conversations of the same user. */
  haystack: z.int().nonnegative().optional(),
  /** Over how many dated sessions each pool is spread; 0, as an absent key, leaves facts without a date. */
  sessions: z.int().nonnegative().optional(),
  user_task_prompt: prompt,
  evaluator: z.discriminatedUnion('type', [ciLlmEvaluatorSchema, ciStringEvaluatorSchema]),
});
export type CiConfig = z.infer<typeof ciConfigSchema>;

/** A row as published: irregular rows keep whatever else they hold. */
export const ciRowSchema = z.looseObject({
  id: z.string().min(1).optional(),
  seed: z
    .object({
      scenario: z.string(),
      domain: z.string(),
      user_intention: z.string(),
      sender: z.string(),
      recipient: z.string(),
      data_subject: z.string(),
      transmission_principle: z.string(),
    })
    // All of it is hashed, so all of it has to be JSON of a depth that can be walked.
    .catchall(json),
  dataset_item: z.looseObject({
    user_task: z.string().min(1),
    information: z.record(z.string(), json),
    annotation: z.looseObject({ allowed: z.record(z.string(), json), disallowed: z.record(z.string(), json) }),
  }),
});
export type CiRow = z.infer<typeof ciRowSchema>;
