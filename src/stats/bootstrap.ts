import type { Random } from '../lib/random.ts';
import type { Interval } from '../schema/rate.ts';
import { widenedAtEdges, wilsonInterval, Z95 } from './wilson.ts';

/**
 * A rate as sums over clusters: cluster i contributes `numerators[i]` of `denominators[i]`, which is above 0.
 * A pooled rate has items in both; a mean over samples has the samples' shares above and their number below.
 */
export interface ClusterSums {
  numerators: Float64Array;
  denominators: Float64Array;
}

export interface ClusterIntervalOptions {
  random: Random;
  /** Resamples; 2000 unless told. */
  resamples?: number;
  /** Above this many clusters the linearised interval replaces the resampling; 5,000 unless told. */
  maxClusters?: number;
}

const sum = (values: Float64Array): number => {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] as number;
  return total;
};

/** The q-quantile of sorted values, interpolated linearly between order statistics (Hyndman and Fan 1996, type 7). */
export function quantile(sorted: Float64Array, q: number): number {
  const at = q * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (at - below);
}

function allAlike({ numerators, denominators }: ClusterSums, ratio: number): boolean {
  for (let i = 0; i < numerators.length; i++) {
    if (
      Math.abs((numerators[i] as number) - ratio * (denominators[i] as number)) >
      1e-12 * (denominators[i] as number)
    ) {
      return false;
    }
  }
  return true;
}

/** Percentile bootstrap of a ratio of sums, resampling whole clusters (Efron and Tibshirani 1993, ch. 13). */
export function percentileBootstrap({ numerators, denominators }: ClusterSums, random: Random, resamples: number) {
  const clusters = numerators.length;
  const ratios = new Float64Array(resamples);
  for (let b = 0; b < resamples; b++) {
    let above = 0;
    let below = 0;
    for (let i = 0; i < clusters; i++) {
      const drawn = (random() * clusters) | 0;
      above += numerators[drawn] as number;
      below += denominators[drawn] as number;
    }
    ratios[b] = above / below;
  }
  ratios.sort();
  return { low: quantile(ratios, 0.025), high: quantile(ratios, 0.975) };
}

/** The same clusters in an order of their own, so that a seed draws the same resamples however they came. */
function inOrder({ numerators, denominators }: ClusterSums): ClusterSums {
  const order = [...numerators.keys()].sort(
    (a, b) =>
      (denominators[a] as number) - (denominators[b] as number) ||
      (numerators[a] as number) - (numerators[b] as number),
  );
  return {
    numerators: Float64Array.from(order, (i) => numerators[i] as number),
    denominators: Float64Array.from(order, (i) => denominators[i] as number),
  };
}

/**
 * Normal interval with the linearised (delta-method) variance of a ratio of cluster totals:
 * C / (C - 1) * sum((y_i - r x_i)^2) / (sum x_i)^2 (Cochran, Sampling Techniques, 3rd ed. 1977, ch. 6).
 */
function linearised({ numerators, denominators }: ClusterSums, ratio: number, total: number) {
  const clusters = numerators.length;
  let squares = 0;
  for (let i = 0; i < clusters; i++) squares += ((numerators[i] as number) - ratio * (denominators[i] as number)) ** 2;
  const half = (Z95 * Math.sqrt((clusters / (clusters - 1)) * squares)) / total;
  return { low: ratio - half, high: ratio + half };
}

/**
 * 95 % interval of a ratio of sums over clusters that may share their luck.
 *
 * Where all clusters have the same rate (nothing leaked; one cluster alone), resampling would show no spread and claim
 * certainty; there it is Wilson's interval with one observation a cluster (`cluster_wilson`), which errs on the wide side.
 * Elsewhere it goes at least as far as that one would from nothing and from everything (see `widenedAtEdges`).
 * The result is clamped to [0, 1] and widened, if need be, to hold the rate itself. Needs at least one cluster.
 */
export function clusterInterval(sums: ClusterSums, options: ClusterIntervalOptions): Interval {
  const clusters = sums.numerators.length;
  const total = sum(sums.denominators);
  if (!(clusters > 0 && total > 0)) throw new RangeError('an interval needs at least one cluster with observations');
  const ratio = sum(sums.numerators) / total;
  const level = 0.95 as const;
  if (allAlike(sums, ratio)) {
    const share = Math.min(1, Math.max(0, ratio));
    return { ...wilsonInterval(share * clusters, clusters), method: 'cluster_wilson', level };
  }
  const large = clusters > (options.maxClusters ?? 5000);
  const { low, high } = large
    ? linearised(sums, ratio, total)
    : percentileBootstrap(inOrder(sums), options.random, options.resamples ?? 2000);
  const ends = widenedAtEdges({ low, high }, clusters);
  return {
    low: Math.max(0, Math.min(ends.low, ratio)),
    high: Math.min(1, Math.max(ends.high, ratio)),
    method: large ? 'cluster_linearised' : 'cluster_bootstrap',
    level,
  };
}
