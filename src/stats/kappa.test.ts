import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Confusion, cohenKappa } from './kappa.ts';

describe('cohenKappa', () => {
  it('gives the published worked example', () => {
    // Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, 3rd ed. 2003, table 18.1: kappa 0.68.
    // The standard error was checked by a numerical delta method over the nine cells, in Python:
    //   grad = (kappa(p + h e_ij) - kappa(p - h e_ij)) / 2h with h = 1e-6
    //   sqrt((sum p_ij grad_ij^2 - (sum p_ij grad_ij)^2) / 100) = 0.0877029535
    const kappa = cohenKappa([
      [75, 1, 4],
      [5, 4, 1],
      [0, 0, 10],
    ]);
    expect(kappa).toMatchObject({ defined: true, items: 100 });
    if (!kappa.defined) return;
    expect(kappa.value).toBeCloseTo(0.23 / 0.34, 12);
    expect((kappa.high - kappa.low) / 2 / 1.959963984540054).toBeCloseTo(0.0877029535, 9);
  });

  it('gives the figures of a table worked out by hand', () => {
    // p_o = 35/50 = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa 0.4; standard error 0.1269960629 by the same program.
    const kappa = cohenKappa([
      [20, 5],
      [10, 15],
    ]);
    expect(kappa.defined && kappa.value).toBeCloseTo(0.4, 12);
    expect(kappa.defined && kappa.low).toBeCloseTo(0.4 - 1.959963984540054 * 0.1269960629, 9);
  });

  it('is 1 for perfect agreement, not with certainty, and undefined where chance alone would agree', () => {
    // p_e = 0.36 + 0.16 = 0.52. Wilson's lower limit of 5 of 5 is 5 / (5 + z^2).
    const low = (5 / (5 + 1.959963984540054 ** 2) - 0.52) / 0.48;
    expect(
      cohenKappa([
        [3, 0],
        [0, 2],
      ]),
    ).toEqual({ defined: true, value: 1, low: expect.closeTo(low, 12), high: 1, items: 5 });
    expect(
      cohenKappa([
        [5, 0],
        [0, 0],
      ]),
    ).toMatchObject({ defined: false, items: 5 });
    expect(cohenKappa([[0]])).toMatchObject({ defined: false, items: 0 });
  });

  it('lies in its interval and in [-1, 1], and does not care which rater is first', () => {
    const cell = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 9, maxLength: 9 }), (cells) => {
        const table: Confusion = [cells.slice(0, 3), cells.slice(3, 6), cells.slice(6)];
        const turned = table.map((_, i) => table.map((row) => row[i] as number));
        const kappa = cohenKappa(table);
        const other = cohenKappa(turned);
        expect(other.defined).toBe(kappa.defined);
        if (!kappa.defined || !other.defined) return;
        expect(other.value).toBeCloseTo(kappa.value, 10);
        expect(other.low).toBeCloseTo(kappa.low, 8);
        expect(kappa.low).toBeLessThanOrEqual(kappa.value);
        expect(kappa.high).toBeGreaterThanOrEqual(kappa.value);
        expect(kappa.low).toBeGreaterThanOrEqual(-1);
        expect(kappa.high).toBeLessThanOrEqual(1);
      }),
    );
  });
});
