import type { Random } from '../lib/random.ts';
import { percentileBootstrap } from './bootstrap.ts';
import { Z95 } from './wilson.ts';

/**
 * A difference of two rates over the same units, as sums over clusters: in cluster i the units differ by
 * `differences[i]` in sum (each unit by -1 to 1), and `units[i]`, above 0, is how many there are.
 */
export interface ClusterDifferences {
  differences: Float64Array;
  units: Float64Array;
}

export interface PairedInterval {
  low: number;
  high: number;
  method: 'paired_cluster_bootstrap' | 'paired_cluster_linearised' | 'paired_cluster_alike';
}

export interface PairedIntervalOptions {
  random: Random;
  /** Resamples; 2000 unless told. */
  resamples?: number;
  /** Above this many clusters the linearised interval replaces the resampling; 5,000 unless told. */
  maxClusters?: number;
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/** Whole clusters are drawn with both arms in them, so that what the arms share stays shared. */
function resampled({ differences, units }: ClusterDifferences, random: Random, resamples: number) {
  return percentileBootstrap({ numerators: differences, denominators: units }, random, resamples);
}

/** Squares of what each cluster's sum is off the common difference: the linearised variance of a ratio rests on them. */
function residualSquares({ differences, units }: ClusterDifferences, difference: number): number {
  let squares = 0;
  for (let i = 0; i < units.length; i++) {
    squares += ((differences[i] as number) - difference * (units[i] as number)) ** 2;
  }
  return squares;
}

function allAlike({ differences, units }: ClusterDifferences, difference: number): boolean {
  return differences.every((each, i) => {
    const here = units[i] as number;
    return Math.abs(each - difference * here) <= 1e-12 * here;
  });
}

/**
 * 95 % interval of a difference of two means or pooled rates over the same units, with clusters that share their luck.
 *
 * - Up to `maxClusters`: percentile bootstrap of whole clusters.
 * - Beyond: normal, with the linearised variance of a ratio of cluster totals, C / (C - 1) * sum((d_i - r x_i)^2) /
 *   (sum x_i)^2 (Cochran, Sampling Techniques, 3rd ed. 1977, ch. 6).
 * - Where all clusters differ by the same amount r (nothing changed; one cluster alone), resampling would claim
 *   certainty. Wilson's upper limit for 0 of C clusters, h = z^2 / (C + z^2), is then the largest share of clusters that
 *   may be otherwise, and these may differ by anything: from r - h (1 + r) to r + h (1 - r). For r = 0 this is what
 *   Newcombe's method 10 gives for C pairs that are all "no". The other intervals are never narrower than this one, so
 *   that the first cluster to differ does not make an interval shrink.
 *
 * Clamped to [-1, 1] and widened, if need be, to hold the difference. Needs at least one cluster, else a RangeError.
 */
export function pairedClusterInterval(data: ClusterDifferences, options: PairedIntervalOptions): PairedInterval {
  const clusters = data.units.length;
  const total = sum(data.units);
  if (!(clusters > 0 && total > 0)) throw new RangeError('a difference needs at least one cluster with observations');
  const difference = sum(data.differences) / total;
  const held = (low: number, high: number, method: PairedInterval['method']): PairedInterval => ({
    low: Math.max(-1, Math.min(low, difference)),
    high: Math.min(1, Math.max(high, difference)),
    method,
  });
  const share = (Z95 * Z95) / (clusters + Z95 * Z95);
  const alike = { low: difference - share * (1 + difference), high: difference + share * (1 - difference) };
  if (allAlike(data, difference)) return held(alike.low, alike.high, 'paired_cluster_alike');
  // So few clusters that differ say no more than none: the interval must not shrink when the first one does.
  const atLeast = (low: number, high: number, method: PairedInterval['method']) =>
    held(Math.min(low, alike.low), Math.max(high, alike.high), method);
  if (clusters > (options.maxClusters ?? 5000)) {
    const variance = (clusters / (clusters - 1)) * residualSquares(data, difference);
    const half = (Z95 * Math.sqrt(variance)) / total;
    return atLeast(difference - half, difference + half, 'paired_cluster_linearised');
  }
  const { low, high } = resampled(data, options.random, options.resamples ?? 2000);
  return atLeast(low, high, 'paired_cluster_bootstrap');
}
