import { z } from 'zod';
import { rateSchema } from './rate.ts';

const unsentRatesSchema = z.strictObject({
  /** Secrets that stand there / secrets of samples that have such a text. */
  overall: rateSchema,
  /** Samples with such a secret / samples that have such a text. */
  per_scenario: rateSchema,
});
/**
 * Secrets in text that was not sent, by the boundary-aware string rule: what the agent thought, and its own message where
 * a defence may have changed it. They are no leaks, and enter no rate of leaks.
 */
export const unsentMetricsSchema = z.strictObject({
  reasoning: unsentRatesSchema.exactOptional(),
  draft: unsentRatesSchema.exactOptional(),
});
export type UnsentMetrics = z.infer<typeof unsentMetricsSchema>;
