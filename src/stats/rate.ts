import type { Bounds, Rate } from '../schema/rate.ts';
import { type ClusterIntervalOptions, type ClusterSums, clusterInterval } from './bootstrap.ts';
import { wilsonInterval } from './wilson.ts';

export interface ShareCounts {
  yes: number;
  no: number;
  unjudged: number;
  failed: number;
}

/** Keeps a value that rounding pushed over an end inside the bounds, and the bounds inside [0, 1]. */
const around = (value: number, bounds: Bounds): Bounds => ({
  low: Math.max(0, Math.min(value, bounds.low)),
  high: Math.min(1, Math.max(value, bounds.high)),
});

export interface ShareOptions {
  /** Why there is no rate, when nothing was judged. */
  reason: string;
  /** Where the unjudged and failed do not simply count once each. */
  bounds?: Bounds;
}

/**
 * A share of samples: yes / (yes + no), Wilson's interval. Samples of one cluster count as independent here, so where
 * clusters hold several samples (repeats, samples of one seed) the interval is somewhat too narrow.
 */
export function shareRate(counts: ShareCounts, options: ShareOptions): Rate {
  const { yes, no, unjudged, failed } = counts;
  const denominator = yes + no;
  const common = { numerator: yes, denominator, unjudged, failed };
  if (denominator === 0) return { defined: false, reason: options.reason, ...common };
  const value = yes / denominator;
  const open = unjudged + failed;
  const all = denominator + open;
  const bounds = options.bounds ?? { low: yes / all, high: (yes + open) / all };
  const interval = { ...wilsonInterval(yes, denominator), method: 'wilson' as const, level: 0.95 as const };
  return { defined: true, value, ...common, interval, bounds: around(value, bounds) };
}

export interface ClusteredRateOptions extends ClusterIntervalOptions {
  sums: ClusterSums;
  unjudged: number;
  failed: number;
  bounds: Bounds;
  reason: string;
}

/** A ratio of sums over clusters, or a mean of samples' shares, with an interval that resamples whole clusters. */
export function clusteredRate({ sums, unjudged, failed, bounds, reason, ...options }: ClusteredRateOptions): Rate {
  let numerator = 0;
  let denominator = 0;
  for (let i = 0; i < sums.numerators.length; i++) {
    numerator += sums.numerators[i] as number;
    denominator += sums.denominators[i] as number;
  }
  const common = { numerator, denominator, unjudged, failed };
  if (denominator === 0) return { defined: false, reason, ...common };
  const value = Math.min(1, numerator / denominator);
  return { defined: true, value, ...common, interval: clusterInterval(sums, options), bounds: around(value, bounds) };
}
