import { Z95 } from './wilson.ts';

/** Hits out of trials. Both may be effective counts, that is, no whole numbers. */
export interface Share {
  hits: number;
  of: number;
}

export interface CorrectionInput {
  /** Items that the judge called positive, out of all it judged. */
  apparent: Share;
  /** Truly positive items that it called positive. */
  sensitivity: Share;
  /** Truly negative items that it called negative. */
  specificity: Share;
}

/**
 * `clipped` says that the estimate fell outside [0, 1] and was moved to its nearer end: the judge found fewer (or more)
 * positives than its error rates alone would give.
 */
export type CorrectedShare =
  | { defined: true; value: number; low: number; high: number; clipped: boolean }
  | { defined: false; reason: string };

const valid = ({ hits, of }: Share): boolean => of > 0 && hits >= 0 && hits <= of && Number.isFinite(of);

/**
 * The true share of positives behind an imperfect judge: (apparent + specificity - 1) / (sensitivity + specificity - 1)
 * (W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", American Journal of
 * Epidemiology 107 (1978), 71-76), cut at 0 and 1.
 *
 * The 95 % interval is that of Z. Lang and J. Reiczigel, "Confidence limits for prevalence of disease adjusted for
 * estimated sensitivity and specificity", Preventive Veterinary Medicine 113 (2014), 13-22, eq. 6, 7, 16 and 17: the
 * delta method on shares moved towards a half (z^2 trials more for the apparent share, 2 more for each error rate), with
 * a shift for skewness. It takes in that sensitivity and specificity are estimates too. The three samples are taken as
 * independent of each other.
 *
 * Undefined where sensitivity + specificity is 1 or less (the judge tells nothing), as it is or after the move, and
 * where the whole interval lies outside [0, 1]: then the error rates are not those of this sample.
 */
export function roganGladen({ apparent, sensitivity, specificity }: CorrectionInput): CorrectedShare {
  for (const [name, share] of Object.entries({ apparent, sensitivity, specificity })) {
    if (share.of === 0) return { defined: false, reason: `nothing was judged to tell the ${wording[name]} from` };
    if (!valid(share)) throw new RangeError(`${name} needs 0 <= hits <= of; got ${share.hits} of ${share.of}`);
  }
  const youden = sensitivity.hits / sensitivity.of + specificity.hits / specificity.of - 1;
  const moved = {
    apparent: towardsHalf(apparent, Z95 * Z95),
    sensitivity: towardsHalf(sensitivity, 2),
    specificity: towardsHalf(specificity, 2),
  };
  const movedYouden = moved.sensitivity.share + moved.specificity.share - 1;
  if (youden <= 0 || movedYouden <= 0) {
    return { defined: false, reason: 'the judge is no better than chance: sensitivity + specificity is 1 or less' };
  }
  const raw = (apparent.hits / apparent.of + specificity.hits / specificity.of - 1) / youden;
  const value = clip(raw);
  const p = (moved.apparent.share + moved.specificity.share - 1) / movedYouden;
  const fromSensitivity = moved.sensitivity.variance;
  const fromSpecificity = moved.specificity.variance;
  const shift = 2 * Z95 * Z95 * (p * fromSensitivity - (1 - p) * fromSpecificity);
  const variance = moved.apparent.variance + p * p * fromSensitivity + (1 - p) ** 2 * fromSpecificity;
  const half = (Z95 * Math.sqrt(variance)) / movedYouden;
  const [low, high] = [p + shift - half, p + shift + half];
  if (high < 0 || low > 1) {
    return { defined: false, reason: 'no true share could give this rate with these error rates' };
  }
  return {
    defined: true,
    value,
    // The estimate is unmoved and the interval is moved, so that at the ends it may pass the estimate by.
    low: Math.min(value, clip(low)),
    high: Math.max(value, clip(high)),
    // Rounding alone is no cut.
    clipped: Math.abs(value - raw) > 1e-12,
  };
}

const wording: Readonly<Record<string, string>> = {
  apparent: 'rate',
  sensitivity: 'sensitivity',
  specificity: 'specificity',
};

const clip = (value: number): number => Math.min(1, Math.max(0, value));

/** The share with `trials` more trials, half of them hits, and the variance of its estimate. */
function towardsHalf({ hits, of }: Share, trials: number): { share: number; variance: number } {
  const n = of + trials;
  const share = (hits + trials / 2) / n;
  return { share, variance: (share * (1 - share)) / n };
}
