import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { highestMean, lowestMean } from './mean-bounds.ts';

const array = (...values: number[]) => Float64Array.from(values);
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** Every subset of the optional values, by brute force. */
function extremes(fixed: number[], optional: number[]) {
  const means: number[] = [];
  for (let mask = 0; mask < 2 ** optional.length; mask++) {
    const all = [...fixed, ...optional.filter((_, i) => mask & (1 << i))];
    if (all.length > 0) means.push(mean(all));
  }
  return { low: Math.min(...means), high: Math.max(...means) };
}

describe('lowestMean and highestMean', () => {
  it('take in what pulls their way', () => {
    // 1/2 alone; with 0 and 1/4: (1/2 + 0 + 1/4) / 3 = 1/4, and 1/4 itself changes nothing once the mean is 1/4.
    expect(lowestMean(array(0.5), array(1, 0.25, 0))).toBe(0.25);
    // with 1: 3/4
    expect(highestMean(array(0.5), array(1, 0.25, 0))).toBe(0.75);
  });

  it('are undefined for nothing', () => {
    expect(lowestMean(array(), array())).toBeUndefined();
    expect(highestMean(array(), array())).toBeUndefined();
  });

  it('equal the extremes over all subsets', () => {
    const shares = fc.array(
      fc.integer({ min: 0, max: 8 }).map((n) => n / 8),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(shares, shares, (fixed, optional) => {
        fc.pre(fixed.length + optional.length > 0);
        const { low, high } = extremes(fixed, optional);
        expect(lowestMean(array(...fixed), array(...optional))).toBeCloseTo(low, 12);
        expect(highestMean(array(...fixed), array(...optional))).toBeCloseTo(high, 12);
      }),
    );
  });
});
