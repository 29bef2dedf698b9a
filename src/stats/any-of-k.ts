/**
 * The chance that at least one of `k` tries hits, from `hits` among `n` tries: 1 - C(n - hits, k) / C(n, k), the mean over
 * all ways to draw k of the n tries, and unbiased for independent tries. It is pass@k of M. Chen et al., "Evaluating large
 * language models trained on code", arXiv:2107.03374 (2021), section 2.1, worked out as a product so that no binomial
 * overflows.
 *
 * Needs whole numbers with 0 <= hits <= n and 1 <= k <= n, else a RangeError. Never falls with k or with hits.
 */
export function anyOfK({ n, hits, k }: { n: number; hits: number; k: number }): number {
  if (![n, hits, k].every(Number.isInteger) || hits < 0 || hits > n || k < 1 || k > n) {
    throw new RangeError(`needs whole numbers with 0 <= hits <= n and 1 <= k <= n; got ${hits} of ${n}, k ${k}`);
  }
  if (n - hits < k) return 1;
  // C(n - hits, k) / C(n, k) = product over i = n - hits + 1 ... n of (1 - k / i): one factor for each hit.
  let none = 1;
  for (let i = n - hits + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}
