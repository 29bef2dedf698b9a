import { z } from 'zod';

const unit = z.number().min(0).max(1);
const count = z.int().nonnegative();

const counts = {
  /** What was counted: items, samples, or the sum of the samples' shares where the rate is a mean. */
  numerator: z.number().nonnegative(),
  /** What it was counted over: judged items or judged samples. */
  denominator: count,
  /** Items or samples that no judge could decide. They are in neither number. */
  unjudged: count,
  /** unjudged / (denominator + unjudged). Absent where there was nothing to judge. */
  unjudged_share: unit.optional(),
  /** Samples that failed or whose grade cannot be read; for rates over items, the items of those samples. */
  failed: count,
};

/**
 * A rate with everything needed to doubt it. `interval` is what chance alone leaves open at `level`; `bounds` is what
 * the unjudged and failed leave open, taken all one way and all the other. An undefined rate says why, and has no value.
 */
export const rateSchema = z.discriminatedUnion('defined', [
  z.strictObject({
    defined: z.literal(true),
    value: unit,
    ...counts,
    interval: z.strictObject({
      low: unit,
      high: unit,
      method: z.enum(['wilson', 'cluster_bootstrap', 'cluster_linearised', 'cluster_wilson']),
      level: z.literal(0.95),
    }),
    bounds: z.strictObject({ low: unit, high: unit }),
  }),
  z.strictObject({ defined: z.literal(false), reason: z.string().min(1), ...counts }),
]);
export type Rate = z.infer<typeof rateSchema>;
export type DefinedRate = Extract<Rate, { defined: true }>;
export type Interval = DefinedRate['interval'];
export type Bounds = DefinedRate['bounds'];
