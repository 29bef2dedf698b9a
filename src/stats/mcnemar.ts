const BIG = 2 ** 500;
const SHRINK = 2 ** -400;

/**
 * Exact two-sided test that two paired shares are equal: given the pairs that differ, either direction is as likely
 * (Q. McNemar, Psychometrika 12, 1947, 153-157, in its exact binomial form). With n = up + down and k = min(up, down),
 * p = min(1, 2 * sum_{i <= k} C(n, i) / 2^n). Without a pair that differs p is 1.
 *
 * `up` and `down` count the pairs that differ in each direction: whole numbers from 0, else a RangeError. The pairs must
 * be independent of each other; where clusters hold several, `signFlipTest` is the same test over clusters.
 */
export function exactMcNemar(up: number, down: number): number {
  if (!(Number.isSafeInteger(up) && Number.isSafeInteger(down) && up >= 0 && down >= 0)) {
    throw new RangeError(`pairs that differ are counted in whole numbers from 0; got ${up} and ${down}`);
  }
  if (up === down) return 1;
  const n = up + down;
  const k = Math.min(up, down);
  // C(n, i) and the sum up to it, both times 2^(halvings - n), so that neither overflows.
  let term = 1;
  let below = 1;
  let halvings = n;
  for (let i = 1; i <= k; i++) {
    term *= (n - i + 1) / i;
    below += term;
    if (below > BIG) {
      term *= SHRINK;
      below *= SHRINK;
      halvings -= 400;
    }
  }
  // A p-value too small for a number is given as the smallest one: it is never 0.
  return Math.min(1, Math.max(Number.MIN_VALUE, 2 * below * 2 ** -halvings));
}
