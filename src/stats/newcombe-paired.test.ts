import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newcombePaired, type PairTable } from './newcombe-paired.ts';
import { wilsonInterval } from './wilson.ts';

const table = ([bothYes, firstOnly, secondOnly, bothNo]: readonly [number, number, number, number]): PairTable => ({
  bothYes,
  firstOnly,
  secondOnly,
  bothNo,
});

describe('newcombePaired', () => {
  it('gives the published limits for complete response before and after consolidation therapy', () => {
    // Cavo et al. 2012, as the R package contingencytables gives it (companion of Fagerland, Lydersen and Laake,
    // Statistical Analysis of Contingency Tables, 2017, ch. 8): -0.0621, -0.1186 to -0.0046.
    const { low, high } = newcombePaired(table([59, 6, 16, 80]));
    expect(low).toBeCloseTo(-0.1186, 4);
    expect(high).toBeCloseTo(-0.0046, 4);
  });

  // Python 3, from the formula in the paper's own terms, a b c d as in the table:
  //   def wilson(x, n): p = x/n; s = z*sqrt(z*z + 4*n*p*(1-p)); return (2*n*p + z*z - s)/(2*(n + z*z)), (2*n*p + z*z + s)/(2*(n + z*z))
  //   p1, p2 = (a+b)/n, (a+c)/n; (l1, u1), (l2, u2) = wilson(a+b, n), wilson(a+c, n)
  //   A = (a+b)*(c+d)*(a+c)*(b+d); B = a*d - b*c; C = max(B - n/2, 0) if B > 0 else B; phi = C/sqrt(A) if A else 0
  //   p1-p2 - sqrt((p1-l1)**2 - 2*phi*(p1-l1)*(u2-p2) + (u2-p2)**2), p1-p2 + sqrt((p2-l2)**2 - 2*phi*(p2-l2)*(u1-p1) + (u1-p1)**2)
  it.each([
    ['a negative correlation', [36, 12, 2, 0], 0.0569, 0.3404],
    ['a positive one that the correction leaves', [29, 1, 1, 22], -0.0625, 0.0625],
    ['a positive one that the correction takes away', [1, 1, 7, 12], -0.5069, -0.0256],
    ['an empty cell', [14, 5, 0, 22], 0.0115, 0.2265],
    ['an empty margin', [0, 29, 0, 1], 0.7915, 0.9941],
    ['a large table', [212, 144, 256, 707], -0.1142, -0.0554],
  ] as [string, [number, number, number, number], number, number][])(
    'is what the formula gives elsewhere: %s',
    (_name, counts, low, high) => {
      const interval = newcombePaired(table(counts));
      expect(interval.low).toBeCloseTo(low, 4);
      expect(interval.high).toBeCloseTo(high, 4);
    },
  );

  it('with empty margins joins the score intervals without a correlation', () => {
    // All 54 pairs "yes" on both sides: p = 1, its Wilson limit is l = 54 / (54 + z^2); u = 1.
    const { low } = wilsonInterval(54, 54);
    const interval = newcombePaired(table([54, 0, 0, 0]));
    expect(interval.low).toBeCloseTo(-(1 - low), 12);
    expect(interval.high).toBeCloseTo(1 - low, 12);
  });

  it('lies in [-1, 1], holds the difference, and turns its sign with the sides', () => {
    const count = fc.integer({ min: 0, max: 400 });
    fc.assert(
      fc.property(count, count, count, count, (a, b, c, d) => {
        fc.pre(a + b + c + d > 0);
        const { low, high } = newcombePaired(table([a, b, c, d]));
        const difference = (b - c) / (a + b + c + d);
        expect(low).toBeGreaterThanOrEqual(-1);
        expect(low).toBeLessThanOrEqual(difference);
        expect(high).toBeGreaterThanOrEqual(difference);
        expect(high).toBeLessThanOrEqual(1);
        const turned = newcombePaired(table([a, c, b, d]));
        expect(turned.low).toBeCloseTo(-high, 12);
        expect(turned.high).toBeCloseTo(-low, 12);
        // "Leaks" and "does not leak" are names: swapping them turns the sign as well.
        const renamed = newcombePaired(table([d, b, c, a]));
        expect(renamed.low).toBeCloseTo(low, 12);
        expect(renamed.high).toBeCloseTo(high, 12);
      }),
    );
  });

  it('refuses to speak about nothing', () => {
    expect(() => newcombePaired(table([0, 0, 0, 0]))).toThrow(RangeError);
  });
});
