import type { ClusterSums } from './bootstrap.ts';
import type { Share } from './rogan-gladen.ts';

/**
 * A pooled share over clusters as the share of a smaller simple random sample with the same variance: the effective
 * sample size n / deff, with deff the ratio of the linearised cluster variance to the binomial one (L. Kish, Survey
 * Sampling, 1965, ch. 8; E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected
 * number of positive counts estimated from survey data", Survey Methodology 24 (1998), 193-201). Never more than n, as a
 * small variance is luck sooner than design; and where the share is 0 or 1, or there is one cluster alone, the
 * clusters show no variance and count once each.
 */
export function effectiveShare({ numerators, denominators }: ClusterSums): Share {
  let hits = 0;
  let of = 0;
  let clusters = 0;
  for (let i = 0; i < denominators.length; i++) {
    hits += numerators[i] as number;
    of += denominators[i] as number;
    if ((denominators[i] as number) > 0) clusters += 1;
  }
  if (of === 0) return { hits: 0, of: 0 };
  const share = hits / of;
  const binomial = (share * (1 - share)) / of;
  if (clusters < 2 || binomial === 0) return { hits: share * clusters, of: clusters };
  let squares = 0;
  for (let i = 0; i < denominators.length; i++) {
    squares += ((numerators[i] as number) - share * (denominators[i] as number)) ** 2;
  }
  const variance = ((clusters / (clusters - 1)) * squares) / (of * of);
  const size = variance <= binomial ? of : Math.max(1, (of * binomial) / variance);
  return { hits: share * size, of: size };
}
