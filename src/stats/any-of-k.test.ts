import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyOfK } from './any-of-k.ts';

/** By enumeration of every way to draw k of n tries, of which the first `hits` hit. */
function byEnumeration(n: number, hits: number, k: number): number {
  let any = 0;
  let all = 0;
  for (let mask = 0; mask < 2 ** n; mask++) {
    const drawn = [...Array(n).keys()].filter((i) => mask & (1 << i));
    if (drawn.length !== k) continue;
    all += 1;
    if (drawn.some((i) => i < hits)) any += 1;
  }
  return any / all;
}

describe('anyOfK', () => {
  it('is 1 - C(3, 2) / C(5, 2) = 7/10 for two tries of five with two hits', () => {
    expect(anyOfK({ n: 5, hits: 2, k: 2 })).toBeCloseTo(0.7, 12);
  });

  it.each([
    // python3 -c "from math import comb; print(1 - comb(200 - 7, 10) / comb(200, 10))"
    [200, 7, 10, 0.3055988116177335],
    [200, 7, 100, 0.9929911172418123],
    // python3 -c "from math import comb; print(1 - comb(5000 - 3, 50) / comb(5000, 50))"
    [5000, 3, 50, 0.02970688255298115],
  ])('n %i, hits %i, k %i: %d', (n, hits, k, expected) => {
    expect(anyOfK({ n, hits, k })).toBeCloseTo(expected, 12);
  });

  it('is the share of hits for one try, and whether there is any for all of them', () => {
    expect(anyOfK({ n: 8, hits: 3, k: 1 })).toBeCloseTo(3 / 8, 12);
    expect(anyOfK({ n: 8, hits: 1, k: 8 })).toBe(1);
    expect(anyOfK({ n: 8, hits: 0, k: 8 })).toBe(0);
  });

  it('equals the share of all draws, and never falls with k or with hits', () => {
    const cases = fc.integer({ min: 1, max: 9 }).chain((n) => fc.tuple(fc.constant(n), fc.nat({ max: n })));
    fc.assert(
      fc.property(cases, ([n, hits]) => {
        for (let k = 1; k <= n; k++) {
          const value = anyOfK({ n, hits, k });
          expect(value).toBeCloseTo(byEnumeration(n, hits, k), 12);
          if (k > 1) expect(value).toBeGreaterThanOrEqual(anyOfK({ n, hits, k: k - 1 }) - 1e-15);
          if (hits > 0) expect(value).toBeGreaterThanOrEqual(anyOfK({ n, hits: hits - 1, k }) - 1e-15);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    [3, 4, 1],
    [3, -1, 1],
    [3, 1, 0],
    [3, 1, 4],
    [3, 0.5, 1],
  ])('refuses n %d, hits %d, k %d', (n, hits, k) => {
    expect(() => anyOfK({ n, hits, k })).toThrow(RangeError);
  });
});
