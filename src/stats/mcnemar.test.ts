import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactMcNemar } from './mcnemar.ts';

describe('exactMcNemar', () => {
  it('gives the published value for complete response before and after consolidation therapy', () => {
    // Cavo et al. 2012, 6 against 16, as the R package contingencytables gives it (companion of Fagerland, Lydersen and
    // Laake, Statistical Analysis of Contingency Tables, 2017, ch. 8): P = 0.052479.
    expect(exactMcNemar(6, 16)).toBeCloseTo(0.052479, 6);
  });

  it('by hand: 1 against 7 is 2 (C(8,0) + C(8,1)) / 2^8', () => {
    expect(exactMcNemar(1, 7)).toBe(18 / 256);
  });

  // Exact fractions in Python 3:
  //   from math import comb; from fractions import Fraction
  //   n = b + c; k = min(b, c); float(min(1, Fraction(2 * sum(comb(n, i) for i in range(k + 1)), 2 ** n)))
  it.each([
    [0, 5, 0.0625],
    [6, 16, 0.052478790283203125],
    [49, 51, 0.9204107626128213],
    [144, 256, 2.3308680873706575e-8],
    [4600, 5400, 1.3042452127400203e-15],
  ])('of %i and %i is what exact fractions give', (up, down, p) => {
    expect(exactMcNemar(up, down) / p).toBeCloseTo(1, 10);
  });

  it('is 1 where nothing differs or both directions are alike', () => {
    expect(exactMcNemar(0, 0)).toBe(1);
    expect(exactMcNemar(3, 3)).toBe(1);
  });

  it('is never 0, however much evidence there is', () => {
    expect(exactMcNemar(0, 5000)).toBe(Number.MIN_VALUE);
  });

  it('lies in (0, 1], has no direction, and falls as the directions part', () => {
    const count = fc.integer({ min: 0, max: 3000 });
    fc.assert(
      fc.property(count, count, (up, down) => {
        const p = exactMcNemar(up, down);
        expect(p).toBeGreaterThan(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(exactMcNemar(down, up)).toBe(p);
        const [less, more] = [Math.min(up, down), Math.max(up, down)];
        if (less > 0) expect(exactMcNemar(less - 1, more + 1)).toBeLessThanOrEqual(p * (1 + 1e-12));
      }),
    );
  });

  it('refuses what is no count', () => {
    for (const [up, down] of [
      [-1, 2],
      [0.5, 2],
      [1, Number.NaN],
    ] as const) {
      expect(() => exactMcNemar(up, down)).toThrow(RangeError);
    }
  });
});
