import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { rateSchema } from '../schema/rate.ts';
import { clusteredRate, shareRate } from './rate.ts';
import { wilsonInterval } from './wilson.ts';

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
      unjudged_share: 1,
      failed: 1,
    });
  });

  it('leaves out the share unjudged where there was nothing to judge, and never calls it 0', () => {
    expect(shareRate({ yes: 0, no: 0, unjudged: 0, failed: 1 }, { reason: 'none' })).not.toHaveProperty(
      'unjudged_share',
    );
    expect(shareRate({ yes: 1, no: 1, unjudged: 2, failed: 9 }, { reason: 'none' })).toMatchObject({
      unjudged_share: 0.5,
    });
  });

  const sums = (pairs: readonly (readonly [number, number])[]) => ({
    numerators: Float64Array.from(pairs, ([yes]) => yes),
    denominators: Float64Array.from(pairs, ([, of]) => of),
  });
  const intervalOf = (pairs: readonly (readonly [number, number])[]) => {
    const yes = pairs.reduce((total, [hits]) => total + hits, 0);
    const of = pairs.reduce((total, [, size]) => total + size, 0);
    const rate = shareRate({ yes, no: of - yes, unjudged: 0, failed: 0 }, { reason: 'none', sums: sums(pairs) });
    return rate.defined ? rate.interval : undefined;
  };

  it('is Wilson over the effective sample size where samples share clusters', () => {
    // Four clusters of two: 2, 2, 0 and 1 of 2. p = 5/8; residuals 3/4, 3/4, -5/4, -1/4: squares add to 11/4.
    // Variance (4/3)(11/4)/64 = 11/192; binomial (15/64)/8 = 15/512; size 8 * (15/512) / (11/192) = 45/11.
    const interval = intervalOf([
      [2, 2],
      [2, 2],
      [0, 2],
      [1, 2],
    ]);
    const { low, high } = wilsonInterval((5 / 8) * (45 / 11), 45 / 11);
    expect(interval).toEqual({
      low: expect.closeTo(low, 12),
      high: expect.closeTo(high, 12),
      method: 'cluster_wilson',
      level: 0.95,
    });
  });

  it('is plain Wilson where every sample is a cluster of its own', () => {
    const interval = intervalOf([
      [1, 1],
      [0, 1],
      [0, 1],
    ]);
    expect(interval).toEqual({ ...wilsonInterval(1, 3), method: 'wilson', level: 0.95 });
  });

  it('counts each cluster once where nothing happened in any, so that repeats buy no certainty', () => {
    const silent = intervalOf(Array.from({ length: 20 }, () => [0, 5] as const));
    expect(silent).toEqual({ ...wilsonInterval(0, 20), method: 'cluster_wilson', level: 0.95 });
  });

  it('five repeats that always agree are as good as one', () => {
    const once = intervalOf(Array.from({ length: 40 }, (_, i) => [i < 10 ? 1 : 0, 1] as const));
    const five = intervalOf(Array.from({ length: 40 }, (_, i) => [i < 10 ? 5 : 0, 5] as const));
    // The cluster variance divides by 39 where Wilson has 40.
    expect(five?.low).toBeCloseTo(once?.low ?? 0, 2);
    expect(five?.high).toBeCloseTo(once?.high ?? 0, 2);
    expect((five?.high ?? 0) - (five?.low ?? 0)).toBeGreaterThan((once?.high ?? 0) - (once?.low ?? 0));
  });

  it('is never narrower than with independent samples', () => {
    const cluster = fc.integer({ min: 1, max: 5 }).chain((of) => fc.tuple(fc.nat({ max: of }), fc.constant(of)));
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 2, maxLength: 20 }), (pairs) => {
        const yes = pairs.reduce((total, [hits]) => total + hits, 0);
        const of = pairs.reduce((total, [, size]) => total + size, 0);
        const plain = wilsonInterval(yes, of);
        const interval = intervalOf(pairs);
        expect(interval?.low).toBeLessThanOrEqual(plain.low + 1e-12);
        expect(interval?.high).toBeGreaterThanOrEqual(plain.high - 1e-12);
      }),
    );
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

  const z2 = 1.959963984540054 ** 2;
  const bounds = { low: 0, high: 1 };
  const pooled = (numerators: readonly number[], size: number) => {
    const sums = {
      numerators: Float64Array.from(numerators),
      denominators: new Float64Array(numerators.length).fill(size),
    };
    const rate = clusteredRate({ ...common, bounds, sums, random: seededRandom('x') });
    if (!rate.defined) throw new Error(rate.reason);
    return rate.interval;
  };

  it('is no more certain with a few hits than with none, nor with a few misses than with none', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 71 }), { minLength: 20, maxLength: 20 }), (hit) => {
        const intervals = Array.from({ length: 21 }, (_, k) => {
          const hits = new Set(hit.slice(0, k));
          const leaks = pooled(
            Array.from({ length: 72 }, (_, i) => (hits.has(i) ? 1 : 0)),
            3,
          );
          const misses = pooled(
            Array.from({ length: 72 }, (_, i) => (hits.has(i) ? 2 : 3)),
            3,
          );
          expect(misses.low).toBeCloseTo(1 - leaks.high, 12);
          expect(misses.high).toBeCloseTo(1 - leaks.low, 12);
          return leaks;
        });
        for (const [k, { low, high }] of intervals.entries()) {
          expect(high).toBeGreaterThanOrEqual(intervals[k - 1]?.high ?? z2 / (72 + z2));
          expect(low).toBeGreaterThanOrEqual(intervals[k - 1]?.low ?? 0);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('one leak among many leaves open what none at all would', () => {
    // Wilson's upper limit of 0 of 72 is z^2 / (72 + z^2), about 5.1 %; that of 1 of 216 would be 2.6 %.
    const { high, method } = pooled([1, ...new Array<number>(71).fill(0)], 3);
    expect(high).toBeCloseTo(z2 / (72 + z2), 12);
    expect(method).toBe('cluster_wilson');
  });

  it('holds a low rate in clusters that share their luck', () => {
    // 72 clusters of 3; a cluster leaks with 4 %, and then each of its items with a half: the rate is 2 %.
    const draw = seededRandom('low rate');
    let over = 0;
    for (let run = 0; run < 1000; run++) {
      const clusters = Array.from({ length: 72 }, () => {
        const leaky = draw() < 0.04;
        return [0, 0, 0].filter(() => leaky && draw() < 0.5).length;
      });
      if (pooled(clusters, 3).high < 0.02) over += 1;
    }
    expect(over).toBeLessThanOrEqual(25);
  });

  it('resamples clusters where the shares are not whole', () => {
    const sums = { numerators: Float64Array.of(0.5, 1), denominators: Float64Array.of(1, 1) };
    expect(clusteredRate({ ...common, bounds, sums })).toMatchObject({ interval: { method: 'cluster_bootstrap' } });
  });

  it('is undefined without a cluster', () => {
    const sums = { numerators: new Float64Array(0), denominators: new Float64Array(0) };
    expect(clusteredRate({ ...common, sums })).toMatchObject({ defined: false, reason: 'none', unjudged: 1 });
  });
});
