import type { Random } from '../lib/random.ts';
import type { AgreementCoefficient } from '../schema/agreement.ts';
import { quantile } from './bootstrap.ts';

/** What one group of units contributes to alpha: its pairable labels by category, and its agreeing coincidences. */
export interface Coincidences {
  /** Labels of each category in units that have at least two labels. */
  counts: readonly number[];
  /** Sum over categories of the diagonal of the coincidence matrix: ordered pairs of equal labels / (labels - 1). */
  agreeing: number;
  /** Units with at least two labels. */
  units: number;
}

export const noCoincidences = (categories: number): Coincidences => ({
  counts: new Array<number>(categories).fill(0),
  agreeing: 0,
  units: 0,
});

/**
 * Contribution of one unit, given how many raters put it into each category. Raters who gave no label are in no
 * count; a unit with fewer than two labels pairs with nothing and contributes nothing. `weight`: how many such units.
 */
export function coincidencesOf(labels: readonly number[], weight = 1): Coincidences {
  const given = labels.reduce((sum, count) => sum + count, 0);
  if (given < 2) return noCoincidences(labels.length);
  const equalPairs = labels.reduce((sum, count) => sum + count * (count - 1), 0);
  return {
    counts: labels.map((count) => count * weight),
    agreeing: (equalPairs / (given - 1)) * weight,
    units: weight,
  };
}

export function addCoincidences(a: Coincidences, b: Coincidences): Coincidences {
  return {
    counts: a.counts.map((count, category) => count + (b.counts[category] ?? 0)),
    agreeing: a.agreeing + b.agreeing,
    units: a.units + b.units,
  };
}

/**
 * Alpha for nominal labels, any number of raters and missing labels: 1 - D_o / D_e, which is
 * 1 - (n - 1) (n - sum o_cc) / (n^2 - sum n_c^2) with n pairable labels, n_c of them in category c (K. Krippendorff,
 * "Computing Krippendorff's alpha-reliability", 2011, sections C and D). Nothing where all labels are alike.
 */
export function alphaOf({ counts, agreeing }: Coincidences): number | undefined {
  const n = counts.reduce((sum, count) => sum + count, 0);
  const expected = n * n - counts.reduce((sum, count) => sum + count * count, 0);
  if (expected === 0) return undefined;
  return 1 - ((n - 1) * (n - agreeing)) / expected;
}

export interface AlphaOptions {
  random: Random;
  /** Resamples; 2000 unless told. */
  resamples?: number;
}

const undefinedAlpha = (sum: Coincidences): AgreementCoefficient => {
  const reason =
    sum.units === 0 ? 'no item has two labels' : 'all labels are alike, so that there is nothing to tell apart';
  return { defined: false, reason, items: sum.units };
};

/**
 * Krippendorff's alpha over groups of units, with a 95 % percentile bootstrap interval that resamples whole groups
 * (units of one record share their luck). A resample in which all labels are alike has no alpha and is passed over;
 * where that leaves fewer than half, and with a single group, the interval is the whole range from -1 to 1.
 */
export function krippendorffAlpha(
  groups: readonly Coincidences[],
  { random, resamples = 2000 }: AlphaOptions,
): AgreementCoefficient {
  const categories = groups[0]?.counts.length ?? 0;
  const total = groups.reduce(addCoincidences, noCoincidences(categories));
  const value = alphaOf(total);
  if (value === undefined) return undefinedAlpha(total);
  const holding = groups.filter(({ units }) => units > 0);
  const drawn = holding.length > 1 ? resampledAlphas(holding, categories, { random, resamples }) : new Float64Array(0);
  const enough = drawn.length * 2 >= resamples;
  return {
    defined: true,
    value,
    low: enough ? Math.max(-1, Math.min(value, quantile(drawn, 0.025))) : -1,
    high: enough ? Math.min(1, Math.max(value, quantile(drawn, 0.975))) : 1,
    items: total.units,
  };
}

/** Alphas of resamples, sorted. */
function resampledAlphas(
  groups: readonly Coincidences[],
  categories: number,
  { random, resamples }: Required<AlphaOptions>,
): Float64Array {
  const width = categories + 1;
  const flat = new Float64Array(groups.length * width);
  for (const [i, { counts, agreeing }] of groups.entries()) {
    flat.set(counts, i * width);
    flat[i * width + categories] = agreeing;
  }
  const alphas: number[] = [];
  const sums = new Float64Array(width);
  for (let b = 0; b < resamples; b++) {
    sums.fill(0);
    for (let i = 0; i < groups.length; i++) {
      const at = ((random() * groups.length) | 0) * width;
      for (let k = 0; k < width; k++) sums[k] = (sums[k] as number) + (flat[at + k] as number);
    }
    const agreeing = sums[categories] as number;
    const alpha = alphaOf({ counts: [...sums.subarray(0, categories)], agreeing, units: 0 });
    if (alpha !== undefined) alphas.push(alpha);
  }
  return Float64Array.from(alphas).sort();
}
