import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { rateSchema } from '../schema/rate.ts';
import { clusteredRate, shareRate } from './rate.ts';

describe('shareRate', () => {
  it('takes the unjudged and failed both ways', () => {
    // 3 of 5 judged; 2 unjudged and 1 failed of 8: between 3/8 and 6/8.
    const rate = shareRate({ yes: 3, no: 2, unjudged: 2, failed: 1 }, { reason: 'none' });
    expect(rate).toMatchObject({ defined: true, value: 0.6, numerator: 3, denominator: 5, unjudged: 2, failed: 1 });
    expect(rate.defined && rate.bounds).toEqual({ low: 0.375, high: 0.75 });
  });

  it('is undefined, with the reason and the counts, when nothing is judged', () => {
    expect(shareRate({ yes: 0, no: 0, unjudged: 2, failed: 1 }, { reason: 'all unjudged' })).toEqual({
      defined: false,
      reason: 'all unjudged',
      numerator: 0,
      denominator: 0,
      unjudged: 2,
      failed: 1,
    });
  });

  it('always fits its schema, and its bounds and interval hold its value', () => {
    const count = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(count, count, count, count, (yes, no, unjudged, failed) => {
        const rate = rateSchema.parse(shareRate({ yes, no, unjudged, failed }, { reason: 'none' }));
        expect(rate.defined).toBe(yes + no > 0);
        if (!rate.defined) return;
        for (const { low, high } of [rate.interval, rate.bounds]) {
          expect(low).toBeLessThanOrEqual(rate.value);
          expect(high).toBeGreaterThanOrEqual(rate.value);
        }
      }),
    );
  });
});

describe('clusteredRate', () => {
  const common = { unjudged: 1, failed: 0, bounds: { low: 0.4, high: 0.6 }, reason: 'none', random: seededRandom('x') };

  it('pools over clusters', () => {
    const sums = { numerators: Float64Array.of(1, 1), denominators: Float64Array.of(1, 3) };
    expect(clusteredRate({ ...common, sums })).toMatchObject({
      defined: true,
      value: 0.5,
      numerator: 2,
      denominator: 4,
    });
  });

  it('is undefined without a cluster', () => {
    const sums = { numerators: new Float64Array(0), denominators: new Float64Array(0) };
    expect(clusteredRate({ ...common, sums })).toMatchObject({ defined: false, reason: 'none', unjudged: 1 });
  });
});
