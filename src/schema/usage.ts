import { z } from 'zod';

const count = z.int().nonnegative();

/** What one stage of one sample spent. Cost is the sum over priced calls; `unpriced_calls` says what it leaves out. */
export const stageUsageSchema = z.strictObject({
  calls: count,
  cached_calls: count,
  retries: count,
  input_tokens: count,
  output_tokens: count,
  cost_usd: z.number().nonnegative(),
  unpriced_calls: count,
});
export type StageUsage = z.infer<typeof stageUsageSchema>;

export const usageSchema = z.strictObject({
  prime: stageUsageSchema,
  agent: stageUsageSchema,
  judge: stageUsageSchema,
});
export type Usage = z.infer<typeof usageSchema>;
export type Stage = keyof Usage;
export const stages: readonly Stage[] = ['prime', 'agent', 'judge'];

export const emptyStageUsage = (): StageUsage => ({
  calls: 0,
  cached_calls: 0,
  retries: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  unpriced_calls: 0,
});
export const emptyUsage = (): Usage => ({
  prime: emptyStageUsage(),
  agent: emptyStageUsage(),
  judge: emptyStageUsage(),
});
