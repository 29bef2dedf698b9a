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
  it.each([
    // Newcombe 1998, the examples of section 4, method 10.
    ['Newcombe 1998', [36, 12, 2, 0], 0.0569, 0.3404, 4],
    // Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), ch. 8: complete response before
    // and after consolidation therapy (Cavo et al. 2012).
    ['Cavo et al. 2012', [59, 6, 16, 80], -0.1186, -0.0046, 4],
    // The same, airway hyper-responsiveness (Bentur et al. 2009).
    ['Bentur et al. 2009', [1, 1, 7, 12], -0.507, -0.026, 3],
  ] as [string, [number, number, number, number], number, number, number][])(
    'gives the published limits: %s',
    (_name, counts, low, high, digits) => {
      const interval = newcombePaired(table(counts));
      expect(interval.low).toBeCloseTo(low, digits);
      expect(interval.high).toBeCloseTo(high, digits);
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
