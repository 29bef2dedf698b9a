import type { UnsentMetrics } from '../../schema/ci-unsent.ts';
import { familyTally, leakPerScenario, pooledRate, type RateScope } from './metrics-rates.ts';

const places = ['reasoning', 'draft'] as const;

/**
 * How often secrets stand in what the agent thought, and in its message before a defence: over the samples that have
 * such a text, with bounds over those that failed. Nothing where no sample has one.
 */
export function unsentRates(scope: RateScope): UnsentMetrics | undefined {
  const there = places.filter((place) => {
    const { yes, no } = familyTally(scope, `${place}_secret`);
    return yes + no > 0;
  });
  if (there.length === 0) return undefined;
  const rates = there.map((place) => [
    place,
    {
      overall: pooledRate(scope, `${place}_secret`, `unsent.${place}.overall`),
      per_scenario: leakPerScenario(scope, `${place}_secret`),
    },
  ]);
  return Object.fromEntries(rates) as UnsentMetrics;
}
