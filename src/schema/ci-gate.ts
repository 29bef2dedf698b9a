import { z } from 'zod';

const range = z.strictObject({ low: z.number(), high: z.number() });

/** One thing that had to hold for one arm. `skipped`: it could not be told, and the options allow that. */
const checkSchema = z.strictObject({
  experiment: z.string(),
  /** `complete`: no sample is missing or failed. `comparable`: every sample has its counterpart in the other run. */
  kind: z.enum(['max', 'min', 'no_worse_than', 'complete', 'comparable']),
  /** In words: `leakage.adjusted <= 0.05`. */
  name: z.string(),
  metric: z.string().optional(),
  limit: z.number().optional(),
  status: z.enum(['passed', 'failed', 'skipped']),
  /** Why, with the figures. */
  reason: z.string(),
  /** The rate, or the difference from the other run, where it is defined. */
  value: z.number().optional(),
  interval: range.optional(),
  bounds: range.optional(),
});
export type GateCheck = z.infer<typeof checkSchema>;

/** What `heams check --json` prints. */
export const ciGateSchema = z.strictObject({
  version: z.literal(1),
  run: z.string(),
  against: z.string().optional(),
  on: z.enum(['interval', 'point']),
  passed: z.boolean(),
  checks: z.array(checkSchema).min(1),
});
export type CiGate = z.infer<typeof ciGateSchema>;
