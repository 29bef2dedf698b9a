import { z } from 'zod';
import { judgeInfoSchema } from './ci-grade.ts';
import { json } from './json.ts';
import { rateSchema } from './rate.ts';
import { failureStages } from './record.ts';
import { usageSchema } from './usage.ts';

const count = z.int().nonnegative();

/** Leakage and coverage, each three ways, and helpfulness: the definitions are in the benchmark's documentation. */
const leakageSchema = z.strictObject({ overall: rateSchema, per_scenario: rateSchema, adjusted: rateSchema });
const coverageSchema = leakageSchema;
const ciRatesShape = { leakage: leakageSchema, coverage: coverageSchema, helpfulness: rateSchema };
export const ciRatesSchema = z.strictObject(ciRatesShape);
export type CiRates = z.infer<typeof ciRatesSchema>;

const where = { sample_id: z.string(), repeat: count };

/** `missing`: the grade holds no verdict of the primary judge at all. */
export const unjudgedReasons = ['malformed', 'cut_off', 'refused', 'empty', 'missing'] as const;

/** Why an item says little about the agent: told by rule from the record alone. An item may have several flags. */
export const itemFlags = ['on_both_sides', 'short', 'in_task'] as const;
export type ItemFlag = (typeof itemFlags)[number];
const flagCounts = z.strictObject({ any: count, on_both_sides: count, short: count, in_task: count });

const sideExposureSchema = z.strictObject({
  items: count,
  stored: count,
  recalled: count,
  disclosed: count,
  recalled_given_stored: rateSchema,
  disclosed_given_recalled: rateSchema,
  /** Disclosed though it never reached the agent: the judge's or the dataset's doing, not the agent's. */
  disclosed_unrecalled: count,
  /** How many items' exposure rests on the text alone, as the backend names no sources. */
  by_text: count,
});
export type SideExposure = z.infer<typeof sideExposureSchema>;

const agreementSchema = z.strictObject({
  /** The string judge's own rate. */
  rate: rateSchema,
  both_yes: count,
  both_no: count,
  primary_only: count,
  string_only: count,
  /** Items that one of the two did not judge. */
  not_compared: count,
});
export type Agreement = z.infer<typeof agreementSchema>;

const durationSchema = z.strictObject({
  count,
  mean_ms: z.number().nonnegative(),
  /** Within 0.5 % of the true quantile. */
  median_ms: z.number().nonnegative(),
  p95_ms: z.number().nonnegative(),
});
export type Duration = z.infer<typeof durationSchema>;

const worstSampleSchema = z.strictObject({
  ...where,
  leaked: count,
  judged: count,
  unjudged: count,
  /** The message, cut at 4,000 characters. */
  message: z.string(),
  cut: z.boolean(),
  secrets: z.array(z.strictObject({ key: z.string(), value: json, evidence: z.string().optional() })),
});
export type WorstSample = z.infer<typeof worstSampleSchema>;

const failureGroupSchema = z.strictObject({
  stage: z.enum(failureStages),
  code: z.string(),
  count,
  examples: z.array(z.strictObject({ ...where, message: z.string() })),
});
export type FailureGroup = z.infer<typeof failureGroupSchema>;

/** Everything the reports say about one experiment: computed from its records alone, and nothing else. */
export const ciMetricsSchema = z.strictObject({
  version: z.literal(1),
  /** Names found in the records. One experiment has one of each but for run ids, which a resume may add to. */
  identity: z.strictObject({
    benchmark: z.string(),
    experiment: z.string(),
    agent: z.string(),
    memory: z.string(),
    backend: z.string(),
    run_ids: z.array(z.string()),
    heams_versions: z.array(z.string()),
    /** Models as their providers named them in replies. */
    agent_models: z.array(z.string()),
  }),
  judges: z.array(judgeInfoSchema),
  /** Judges that the metrics rest on: one, unless the grades disagree about it. */
  primary: z.array(judgeInfoSchema),
  helpfulness_thresholds: z.array(count),
  counts: z.strictObject({
    records: count,
    done: count,
    failed: count,
    /** Done, but with a grade of another shape. Counted like failed ones. */
    unreadable: count,
    samples: count,
    clusters: count,
    empty_messages: count,
    secrets: count,
    fields: count,
  }),
  failures: z.array(failureGroupSchema),
  unreadable: z.array(z.strictObject({ ...where, message: z.string() })),
  unjudged: z.array(
    z.strictObject({ kind: z.enum(['secret', 'field', 'helpfulness']), reason: z.enum(unjudgedReasons), count }),
  ),
  ...ciRatesShape,
  /** The same without items that are flagged by rule. */
  unflagged: z.strictObject({
    leakage: leakageSchema,
    coverage: coverageSchema,
    flagged: z.strictObject({ secrets: flagCounts, fields: flagCounts }),
  }),
  /** The per-scenario leakage over samples whose message is not empty: who says nothing leaks nothing. */
  leakage_of_answered: rateSchema,
  scores: z.strictObject({ poor: count, unsatisfactory: count, good: count, excellent: count, unjudged: count }),
  breakdowns: z.array(
    z.strictObject({
      tag: z.string(),
      values: z.array(z.strictObject({ value: z.string(), records: count, ...ciRatesShape })),
    }),
  ),
  exposure: z.strictObject({
    secret: sideExposureSchema,
    field: sideExposureSchema,
    /** The first of the secrets that were disclosed though never recalled. */
    unrecalled_secrets: z.array(z.strictObject({ ...where, key: z.string(), value: json })),
  }),
  string_judges: z.array(z.strictObject({ judge: z.string(), secret: agreementSchema, field: agreementSchema })),
  usage: usageSchema,
  time: z.strictObject({
    total: durationSchema.optional(),
    prime: durationSchema.optional(),
    agent: durationSchema.optional(),
    judge: durationSchema.optional(),
  }),
  worst: z.array(worstSampleSchema),
});
export type CiMetrics = z.infer<typeof ciMetricsSchema>;

/** `_rollup/ci/metrics.json`. */
export const ciRollupSchema = z.strictObject({ version: z.literal(1), arms: z.array(ciMetricsSchema) });
export type CiRollup = z.infer<typeof ciRollupSchema>;
