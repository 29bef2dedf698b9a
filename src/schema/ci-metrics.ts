import { z } from 'zod';
import { judgeInfoSchema } from './ci-grade.ts';
import { panelSchema } from './ci-panel.ts';
import { unsentMetricsSchema } from './ci-unsent.ts';
import { json } from './json.ts';
import { rateSchema } from './rate.ts';
import { failureStages } from './record.ts';
import { usageSchema } from './usage.ts';

const count = z.int().nonnegative();
const unit = z.number().min(0).max(1);

/** Leakage and coverage, each three ways, and helpfulness: the definitions are in the benchmark's documentation. */
const leakageSchema = z.strictObject({ overall: rateSchema, per_scenario: rateSchema, adjusted: rateSchema });
const coverageSchema = leakageSchema;
/**
 * Whether the agent did the task at all, told by rule from its message: the share of samples with a message that neither
 * is empty nor declines the task, and the per-scenario rates of those alone.
 */
const engagedSchema = z.strictObject({ share: rateSchema, leakage: rateSchema, coverage: rateSchema });
const ciRatesShape = {
  leakage: leakageSchema,
  coverage: coverageSchema,
  helpfulness: rateSchema,
  engaged: engagedSchema,
};
export const ciRatesSchema = z.strictObject(ciRatesShape);
export type CiRates = z.infer<typeof ciRatesSchema>;

const where = { sample_id: z.string(), repeat: count };

/** `missing`: the grade holds no verdict of the primary judge at all. */
export const unjudgedReasons = ['malformed', 'cut_off', 'refused', 'empty', 'tie', 'too_few', 'missing'] as const;

/**
 * Why an item says little about the agent: told by rule from the record alone. An item may have several flags, and with
 * any of them it is left out of the unflagged metrics.
 */
export const itemFlags = [
  'equal_to_allowed',
  'equal_to_disallowed',
  'in_task',
  'in_other_allowed_fact',
  'short',
  'label_not_value',
  'absent_from_fact',
  'placeholder',
  'on_both_sides',
] as const;
export type ItemFlag = (typeof itemFlags)[number];
const flagCounts = z.strictObject({ any: count, by_flag: z.record(z.enum(itemFlags), count) });
export type FlagCounts = z.infer<typeof flagCounts>;

const sideExposureSchema = z.strictObject({
  items: count,
  stored: count,
  recalled: count,
  disclosed: count,
  /** recalled / items of which it is known whether they were. */
  recalled_share: rateSchema,
  recalled_given_stored: rateSchema,
  disclosed_given_recalled: rateSchema,
  /** Found by the memory and kept back by a defence, so that it did not reach the agent. */
  withheld: count,
  /** Disclosed though it never reached the agent: the judge's or the dataset's doing, not the agent's. */
  disclosed_unrecalled: count,
  /** The first of these, one by one. */
  unrecalled: z.array(
    z.strictObject({
      ...where,
      key: z.string(),
      value: json,
      by: z.enum(['provenance', 'text', 'unknown']),
      evidence: z.string().exactOptional(),
    }),
  ),
  /** What the items' exposure rests on: facts that the backend names as its sources, the text alone, or nothing. */
  by: z.strictObject({ provenance: count, text: count, unknown: count }),
});
export type SideExposure = z.infer<typeof sideExposureSchema>;

/** How well searches found the facts that hold an allowed value. Over samples whose agent searched and whose backend names sources. */
const recallQualitySchema = z.strictObject({
  /** recall@k: such facts that came back / such facts. */
  recall: rateSchema,
  /** precision@k: items from such facts / items that came back. */
  precision: rateSchema,
  /** The k that searches asked for; empty where the backend gives all it holds. */
  requested_k: z.array(count),
});
export type RecallQuality = z.infer<typeof recallQualitySchema>;

const spanSchema = z.strictObject({ mean: z.number().nonnegative(), min: count, max: count });
/** The pools of facts, over all records. */
const poolSchema = z.strictObject({
  facts: spanSchema,
  /** Of them, those that were taken from other samples. */
  distractors: spanSchema,
  /** Sessions that the facts were told in; 0 where they have none. */
  sessions: spanSchema,
  /** Records whose agent searched a memory for a number of items. */
  searched: count,
  /** Of them, those in which a search asked for as many items as the memory held, or for more. */
  covered: count,
});
export type PoolMetrics = z.infer<typeof poolSchema>;

const spreadSchema = z.discriminatedUnion('defined', [
  z.strictObject({
    metric: z.string(),
    defined: z.literal(true),
    /** Repeats in which the metric has a value. */
    repeats: count,
    mean: unit,
    /** Standard deviation over repeats, with n - 1 below. */
    sd: z.number().nonnegative(),
    min: unit,
    max: unit,
    /** Of the mean: the unjudged and failed of every repeat taken all one way, and all the other. */
    bounds: z.strictObject({ low: unit, high: unit }),
  }),
  z.strictObject({ metric: z.string(), defined: z.literal(false), repeats: count, reason: z.string().min(1) }),
]);
export type Spread = z.infer<typeof spreadSchema>;

/** What several runs of the same samples say: present where a sample has more than one record. */
const repeatsSchema = z.strictObject({
  /** The most records that a sample has. */
  n: z.int().min(2),
  /** Samples with fewer than n graded records. */
  incomplete: count,
  spread: z.array(spreadSchema),
  /** Share of samples that leak in at least one of their n repeats. */
  any_of_n: rateSchema,
  /** Mean over samples of the largest leaked share of their secrets in a repeat. */
  worst_of_n: rateSchema,
  /** Shares of samples whose repeats do not agree about it. */
  flips: z.strictObject({ leakage: rateSchema, helpfulness: rateSchema }),
  /** Chance that a sample leaks in at least one of k tries. */
  cumulative: z.array(z.strictObject({ k: z.int().positive(), rate: rateSchema })),
  each: z.array(z.strictObject({ repeat: count, records: count, ...ciRatesShape })),
});
export type Repeats = z.infer<typeof repeatsSchema>;

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
  version: z.literal(2),
  /** Names found in the records. One experiment has one of each but for run ids, which a resume may add to. */
  identity: z.strictObject({
    benchmark: z.string(),
    experiment: z.string(),
    agent: z.string(),
    agent_kind: z.string(),
    memory: z.string(),
    backend: z.string(),
    /** Absent where the arm has no defence. */
    defence: z.string().exactOptional(),
    defence_kind: z.string().exactOptional(),
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
    /** Messages that decline the task. */
    refusals: count,
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
  scores: z.strictObject({ poor: count, unsatisfactory: count, good: count, excellent: count, unjudged: count }),
  breakdowns: z.array(
    z.strictObject({
      tag: z.string(),
      values: z.array(z.strictObject({ value: z.string(), records: count, ...ciRatesShape })),
    }),
  ),
  repeats: repeatsSchema.exactOptional(),
  exposure: z.strictObject({ secret: sideExposureSchema, field: sideExposureSchema }),
  /** Absent where no reply has such a text. */
  unsent: unsentMetricsSchema.exactOptional(),
  recall_quality: recallQualitySchema,
  pool: poolSchema,
  string_judges: z.array(z.strictObject({ judge: z.string(), secret: agreementSchema, field: agreementSchema })),
  /** Agreement of several judge models; absent where one alone has judged. */
  panel: panelSchema.exactOptional(),
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

/**
 * A rate on the scale between two controls: (arm - floor) / (ceiling - floor). An arm may lie beyond the controls, so it
 * is no share. `interval` is the arm's own, with the controls as they were measured; `bounds` take the unjudged and
 * failed of all three, and are absent where these leave no scale.
 */
const scaledSchema = z.discriminatedUnion('defined', [
  z.strictObject({
    defined: z.literal(true),
    value: z.number(),
    interval: z.strictObject({ low: z.number(), high: z.number() }),
    bounds: z.strictObject({ low: z.number(), high: z.number() }).exactOptional(),
  }),
  z.strictObject({ defined: z.literal(false), reason: z.string().min(1) }),
]);
export type Scaled = z.infer<typeof scaledSchema>;

/** The arms that the scale rests on, by experiment, and where each arm lies on it; both by the per-scenario rates. */
const scaleSchema = z.strictObject({
  controls: z.strictObject({
    silent: z.string().exactOptional(),
    oracle: z.string().exactOptional(),
    dump: z.string().exactOptional(),
  }),
  arms: z.array(z.strictObject({ experiment: z.string(), leakage: scaledSchema, coverage: scaledSchema })),
});
export type Scale = z.infer<typeof scaleSchema>;

/** `_rollup/ci/metrics.json`. */
export const ciRollupSchema = z.strictObject({
  version: z.literal(2),
  arms: z.array(ciMetricsSchema),
  scale: scaleSchema,
});
export type CiRollup = z.infer<typeof ciRollupSchema>;
