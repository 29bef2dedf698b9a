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

export const emptyStageUsage = (): StageUsage => ({
  calls: 0,
  cached_calls: 0,
  retries: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  unpriced_calls: 0,
});

/** By who spent it. A defence's own calls are apart from the agent's; records of before there were any have none. */
export const usageSchema = z.strictObject({
  prime: stageUsageSchema,
  defence: stageUsageSchema.default(emptyStageUsage),
  agent: stageUsageSchema,
  judge: stageUsageSchema,
});
export type Usage = z.infer<typeof usageSchema>;
export type Stage = keyof Usage;
export const stages: readonly Stage[] = ['prime', 'defence', 'agent', 'judge'];

export const emptyUsage = (): Usage => ({
  prime: emptyStageUsage(),
  defence: emptyStageUsage(),
  agent: emptyStageUsage(),
  judge: emptyStageUsage(),
});
