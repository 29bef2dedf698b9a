import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wilsonInterval } from './wilson.ts';

describe('wilsonInterval', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", Statist. Med. 17 (1998), table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('gives the published interval of %i/%i', (successes, trials, low, high) => {
    const interval = wilsonInterval(successes, trials);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  it('is its own mirror image', () => {
    const left = wilsonInterval(3, 11);
    const right = wilsonInterval(8, 11);
    expect(left.low).toBeCloseTo(1 - right.high, 12);
    expect(left.high).toBeCloseTo(1 - right.low, 12);
  });

  it('stays in [0, 1] and holds the share, for any counts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.double({ min: 0, max: 1, noNaN: true }), (trials, share) => {
        const successes = Math.min(trials, share * trials);
        const { low, high } = wilsonInterval(successes, trials);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(successes / trials);
        expect(high).toBeGreaterThanOrEqual(successes / trials);
      }),
    );
  });

  it.each([
    [0, 0],
    [2, 1],
    [-1, 3],
    [Number.NaN, 3],
  ])('refuses %d of %d', (successes, trials) => {
    expect(() => wilsonInterval(successes, trials)).toThrow(RangeError);
  });
});
