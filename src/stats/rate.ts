import type { Bounds, Interval, Rate } from '../schema/rate.ts';
import { type ClusterIntervalOptions, type ClusterSums, clusterInterval } from './bootstrap.ts';
import { effectiveShare } from './effective-size.ts';
import { widenedAtEdges, wilsonInterval } from './wilson.ts';

export interface ShareCounts {
  yes: number;
  no: number;
  unjudged: number;
  failed: number;
}

/** Sums in another order may differ in their last digits; such a difference is none. */
const ROUNDING = 1e-12;

/** Bounds that hold the value, lie in [0, 1], and are the value itself where only rounding sets them apart. */
const around = (value: number, { low, high }: Bounds): Bounds => ({
  low: low > value - ROUNDING ? value : Math.max(0, low),
  high: high < value + ROUNDING ? value : Math.min(1, high),
});

/** The counts of a rate, and the share that is unjudged where there was anything to judge. */
function countsOf(numerator: number, denominator: number, { unjudged, failed }: { unjudged: number; failed: number }) {
  const asked = denominator + unjudged;
  const share = asked === 0 ? {} : { unjudged_share: unjudged / asked };
  return { numerator, denominator, unjudged, failed, ...share };
}

export interface ShareOptions {
  /** Why there is no rate, when nothing was judged. */
  reason: string;
  /** Where the unjudged and failed do not simply count once each. */
  bounds?: Bounds;
  /** yes, of yes + no, by cluster. Absent where the samples are independent of each other. */
  sums?: ClusterSums;
}

/**
 * 95 % interval of a share of samples or of items. Where each is a cluster of its own it is Wilson's (`wilson`). Where they
 * share clusters it is Wilson's over the effective sample size (`cluster_wilson`; see `effectiveShare`), the form that
 * does well in simulations of clustered samples (N. Dean and M. Pagano, "Evaluating confidence interval methods for
 * binomial proportions in clustered surveys", J. Survey Stat. Methodol. 3 (2015), 484-503).
 * A few hits in different clusters look independent, where none at all counts each cluster once; so that the first hit
 * does not make the interval more certain, it is widened at the edges (see `widenedAtEdges`).
 */
export function shareInterval(yes: number, of: number, sums?: ClusterSums): Interval {
  if (!sums || sums.denominators.every((size) => size === 1)) {
    return { ...wilsonInterval(yes, of), method: 'wilson', level: 0.95 };
  }
  const { hits, of: size } = effectiveShare(sums);
  // Rounding must not push the hits over an end, nor the interval off the share.
  const clusters = sums.denominators.filter((below) => below > 0).length;
  const { low, high } = widenedAtEdges(wilsonInterval(Math.min(size, Math.max(0, hits)), size), clusters);
  const share = yes / of;
  return { low: Math.min(low, share), high: Math.max(high, share), method: 'cluster_wilson', level: 0.95 };
}

/** A share of samples: yes / (yes + no). */
export function shareRate({ yes, no, unjudged, failed }: ShareCounts, options: ShareOptions): Rate {
  const denominator = yes + no;
  const common = countsOf(yes, denominator, { unjudged, failed });
  if (denominator === 0) return { defined: false, reason: options.reason, ...common };
  const value = yes / denominator;
  const open = unjudged + failed;
  const all = denominator + open;
  const bounds = options.bounds ?? { low: yes / all, high: (yes + open) / all };
  const interval = shareInterval(yes, denominator, options.sums);
  return { defined: true, value, ...common, interval, bounds: around(value, bounds) };
}

export interface ClusteredRateOptions extends ClusterIntervalOptions {
  sums: ClusterSums;
  unjudged: number;
  failed: number;
  bounds: Bounds;
  reason: string;
}

/** Whether the sums are counts of hits among counts of items. A mean of shares that are all 0 or 1 is such a share, too. */
function areCounts({ numerators, denominators }: ClusterSums): boolean {
  return numerators.every((above, i) => Number.isInteger(above) && above >= 0 && above <= (denominators[i] as number));
}

/**
 * A pooled share of items, with the interval of `shareInterval`; or a mean of samples' shares, with one that resamples
 * whole clusters.
 */
export function clusteredRate({ sums, unjudged, failed, bounds, reason, ...options }: ClusteredRateOptions): Rate {
  let numerator = 0;
  let denominator = 0;
  for (let i = 0; i < sums.numerators.length; i++) {
    numerator += sums.numerators[i] as number;
    denominator += sums.denominators[i] as number;
  }
  const common = countsOf(numerator, denominator, { unjudged, failed });
  if (denominator === 0) return { defined: false, reason, ...common };
  const value = Math.min(1, numerator / denominator);
  const interval = areCounts(sums) ? shareInterval(numerator, denominator, sums) : clusterInterval(sums, options);
  return { defined: true, value, ...common, interval, bounds: around(value, bounds) };
}
