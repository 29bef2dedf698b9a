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
    ...modelSettingsShape,
  })
  .superRefine((evaluator, context) => {
    if (evaluator.grading !== 'per_sample') return;
    for (const key of batchPrompts) {
      if (evaluator[key] !== undefined) continue;
      context.addIssue({ code: 'custom', path: [key], message: `a prompt over {{ items }}, for grading: per_sample` });
    }
  });
export type CiLlmEvaluator = z.infer<typeof ciLlmEvaluatorSchema>;

export const ciStringEvaluatorSchema = z.strictObject({
  type: z.literal('ci_string_match'),
  /** `raw`: plain substring, the CI-RL paper's rule. `boundary`: the match may not start or end inside a word. */
  variant: z.enum(['raw', 'boundary']).default('raw'),
  helpfulness_threshold: threshold,
});
export type CiStringEvaluator = z.infer<typeof ciStringEvaluatorSchema>;

/** A CI benchmark file. It owns the data, the stimulus and the evaluator; no prompt has a default in code. */
export const ciConfigSchema = z.strictObject({
  benchmark: z.literal('contextual_integrity'),
  name: z.string().min(1).optional(),
  description: z.string().optional(),
  dataset: ciDatasetSchema,
  user_task_prompt: prompt,
  evaluator: z.discriminatedUnion('type', [ciLlmEvaluatorSchema, ciStringEvaluatorSchema]),
});
export type CiConfig = z.infer<typeof ciConfigSchema>;

/** A row as published: irregular rows keep whatever else they hold. */
export const ciRowSchema = z.looseObject({
  id: z.string().min(1).optional(),
  seed: z.looseObject({
    scenario: z.string(),
    domain: z.string(),
    user_intention: z.string(),
    sender: z.string(),
    recipient: z.string(),
    data_subject: z.string(),
    transmission_principle: z.string(),
  }),
  dataset_item: z.looseObject({
    user_task: z.string().min(1),
    information: z.record(z.string(), json),
    annotation: z.looseObject({ allowed: z.record(z.string(), json), disallowed: z.record(z.string(), json) }),
  }),
});
export type CiRow = z.infer<typeof ciRowSchema>;
