import { z } from 'zod';

const count = z.int().nonnegative();
const unit = z.number().min(0).max(1);
const signed = z.number().min(-1).max(1);
const sides = z.strictObject({ baseline: count, arm: count, both: count });

const differenceMethods = [
  'newcombe',
  'paired_cluster_bootstrap',
  'paired_cluster_linearised',
  'paired_cluster_alike',
] as const;
const testMethods = ['mcnemar_exact', 'sign_flip_exact', 'sign_flip_sampled', 'sign_flip_normal'] as const;

const counts = {
  /** What the difference rests on: pairs of samples, or items of paired samples, judged in both arms. */
  of: z.enum(['pairs', 'items']),
  judged: count,
  /** Left out: no verdict (or no grade at all) in the baseline alone, in the arm alone, in both. */
  open: sides,
};

/**
 * Arm minus baseline, over what both have a verdict for. `interval` is what chance leaves open at 95 %, `bounds` what the
 * open ones leave open, taken all one way and all the other. `p` is two-sided; `p_holm` is adjusted over the arms of the
 * comparison, for this metric.
 */
const differenceSchema = z.discriminatedUnion('defined', [
  z.strictObject({
    defined: z.literal(true),
    value: signed,
    baseline: unit,
    arm: unit,
    ...counts,
    clusters: count,
    interval: z.strictObject({ low: signed, high: signed, method: z.enum(differenceMethods), level: z.literal(0.95) }),
    bounds: z.strictObject({ low: signed, high: signed }),
    p: unit,
    p_method: z.enum(testMethods),
    p_holm: unit,
    /**
     * Shares of pairs alone: Newcombe's interval and the exact McNemar test, with pairs taken for independent. Where
     * every cluster has one pair, these are `interval` and `p`.
     */
    independent: z.strictObject({ low: signed, high: signed, p: unit }).exactOptional(),
  }),
  z.strictObject({ defined: z.literal(false), reason: z.string().min(1), ...counts }),
]);
export type Difference = z.infer<typeof differenceSchema>;
export type DefinedDifference = Extract<Difference, { defined: true }>;

const where = z.strictObject({ sample_id: z.string(), repeat: count });
export type SampleAt = z.infer<typeof where>;

/** Pairs whose outcome differs, by direction. `samples` holds the first 1,000 by id. */
const flipSchema = z.strictObject({ count, samples: z.array(where) });
const flipsSchema = z.strictObject({ arm_only: flipSchema, baseline_only: flipSchema });
export type Flips = z.infer<typeof flipsSchema>;

const sideSchema = z.strictObject({
  /** The results folder as it was given. */
  run: z.string(),
  experiment: z.string(),
  agent: z.string(),
  memory: z.string(),
  backend: z.string(),
  run_ids: z.array(z.string()),
  /** Ids of the judges that the outcomes rest on, and the scores from which a message is helpful. */
  primary: z.array(z.string()),
  helpfulness_thresholds: z.array(count),
  records: count,
});
export type ComparedSide = z.infer<typeof sideSchema>;

/** How the records of two arms were brought together, by sample id and repeat. */
const pairingSchema = z.strictObject({
  /** Same sample and repeat on both sides, with the same task, facts and annotation. */
  pairs: count,
  clusters: count,
  /** On one side alone. */
  baseline_only: count,
  arm_only: count,
  /** Same id and repeat, but another task, other facts or another annotation: not compared. The first 20 are named. */
  different: z.strictObject({ count, samples: z.array(where) }),
  /** Pairs where a side failed or has a grade that cannot be read. */
  failed: sides,
});
export type Pairing = z.infer<typeof pairingSchema>;

export const comparedMetrics = [
  'leakage.per_scenario',
  'leakage.overall',
  'leakage.adjusted',
  'coverage.overall',
  'coverage.per_scenario',
  'helpfulness',
] as const;
export type ComparedMetric = (typeof comparedMetrics)[number];

const armComparisonSchema = z.strictObject({
  baseline: sideSchema,
  arm: sideSchema,
  pairing: pairingSchema,
  metrics: z.strictObject({
    'leakage.per_scenario': differenceSchema,
    'leakage.overall': differenceSchema,
    'leakage.adjusted': differenceSchema,
    'coverage.overall': differenceSchema,
    'coverage.per_scenario': differenceSchema,
    helpfulness: differenceSchema,
  }),
  flips: z.strictObject({ leakage: flipsSchema, helpfulness: flipsSchema }),
});
export type ArmComparison = z.infer<typeof armComparisonSchema>;

/** What `heams compare --json` prints, and `_rollup/ci/compare.json`. */
export const ciComparisonSchema = z.strictObject({
  version: z.literal(1),
  /** `arms`: the arms of one run against one of them. `runs`: arms of one name, the second run against the first. */
  kind: z.enum(['arms', 'runs']),
  /** The arm that the others are held against, and why it is that one; absent between two runs. */
  baseline: z.strictObject({ experiment: z.string(), chosen: z.enum(['named', 'no_memory', 'first']) }).optional(),
  comparisons: z.array(armComparisonSchema),
  not_compared: z.array(z.strictObject({ run: z.string(), experiment: z.string(), reason: z.string() })),
});
export type CiComparison = z.infer<typeof ciComparisonSchema>;
