import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { type ClusterSums, clusterInterval, quantile } from './bootstrap.ts';
import { wilsonInterval, Z95 } from './wilson.ts';

const sums = (pairs: readonly (readonly [number, number])[]): ClusterSums => ({
  numerators: Float64Array.from(pairs, ([above]) => above),
  denominators: Float64Array.from(pairs, ([, below]) => below),
});
const random = () => seededRandom('test');

describe('quantile', () => {
  it('interpolates between order statistics', () => {
    const sorted = Float64Array.from([10, 20, 30, 40]);
    expect(quantile(sorted, 0)).toBe(10);
    expect(quantile(sorted, 1)).toBe(40);
    expect(quantile(sorted, 0.5)).toBe(25);
    // 0.025 * 3 = 0.075 of the way from 10 to 20
    expect(quantile(sorted, 0.025)).toBeCloseTo(10.75, 12);
  });
});

describe('clusterInterval', () => {
  it('gives the same interval for the same seed', () => {
    const data = sums([
      [1, 2],
      [0, 3],
      [2, 2],
      [1, 4],
    ]);
    expect(clusterInterval(data, { random: random() })).toEqual(clusterInterval(data, { random: random() }));
  });

  it('does not care in which order clusters come', () => {
    const pairs = [
      [0.5, 1],
      [0, 3],
      [2, 2],
      [1, 4],
      [0, 1],
    ] as const;
    const turned = clusterInterval(sums([...pairs].reverse()), { random: random() });
    expect(turned).toEqual(clusterInterval(sums(pairs), { random: random() }));
  });

  it('agrees with the exact distribution of resamples of two clusters', () => {
    // Clusters 0/1 and 1/1: a resample has mean 0, 1/2, 1/2 or 1, a quarter each. So the 2.5 % and 97.5 % points are 0 and 1.
    const interval = clusterInterval(
      sums([
        [0, 1],
        [1, 1],
      ]),
      { random: random() },
    );
    expect(interval).toEqual({ low: 0, high: 1, method: 'cluster_bootstrap', level: 0.95 });
  });

  it('is close to the binomial quantiles for single observations', () => {
    // 30 of 100: the resampled count is Binomial(100, 0.3), whose 2.5 % and 97.5 % quantiles are 21 and 39.
    const data = sums(Array.from({ length: 100 }, (_, i) => [i < 30 ? 1 : 0, 1] as const));
    const { low, high } = clusterInterval(data, { random: random() });
    expect(Math.abs(low - 0.21)).toBeLessThanOrEqual(0.01);
    expect(Math.abs(high - 0.39)).toBeLessThanOrEqual(0.01);
  });

  it('is wider when observations come in clusters that agree', () => {
    const single = sums(Array.from({ length: 100 }, (_, i) => [i < 50 ? 1 : 0, 1] as const));
    const tens = sums(Array.from({ length: 10 }, (_, i) => [i < 5 ? 10 : 0, 10] as const));
    const width = ({ low, high }: { low: number; high: number }) => high - low;
    const alone = width(clusterInterval(single, { random: random() }));
    expect(width(clusterInterval(tens, { random: random() }))).toBeGreaterThan(2 * alone);
  });

  it('is linearised beyond the limit of clusters, by the formula worked out by hand', () => {
    // r = 3/6 = 1/2; residuals 1 - 1 = 0, 0 - 1/2, 2 - 3/2 = 1/2: squares add to 1/2. C/(C-1) = 3/2. Variance (3/4)/36.
    const interval = clusterInterval(
      sums([
        [1, 2],
        [0, 1],
        [2, 3],
      ]),
      { random: random(), maxClusters: 2 },
    );
    const half = (Z95 * Math.sqrt(0.75)) / 6;
    expect(interval.method).toBe('cluster_linearised');
    expect(interval.low).toBeCloseTo(0.5 - half, 12);
    expect(interval.high).toBeCloseTo(0.5 + half, 12);
  });

  it('linearised and resampled agree on many clusters', () => {
    const draw = seededRandom('data');
    const data = sums(Array.from({ length: 2000 }, () => [Math.floor(draw() * 4), 3] as const));
    const resampled = clusterInterval(data, { random: random() });
    const linear = clusterInterval(data, { random: random(), maxClusters: 100 });
    expect(Math.abs(resampled.low - linear.low)).toBeLessThan(0.002);
    expect(Math.abs(resampled.high - linear.high)).toBeLessThan(0.002);
  });

  it.each([
    [
      'nothing happened',
      [
        [0, 3],
        [0, 1],
      ],
    ],
    [
      'everything happened',
      [
        [3, 3],
        [1, 1],
      ],
    ],
    ['one cluster alone', [[1, 3]]],
  ] as [string, [number, number][]][])('claims no certainty where clusters are alike: %s', (_name, pairs) => {
    const interval = clusterInterval(sums(pairs), { random: random() });
    const [above, below] = pairs[0] as [number, number];
    const expected = wilsonInterval((above / below) * pairs.length, pairs.length);
    expect(interval).toEqual({ ...expected, method: 'cluster_wilson', level: 0.95 });
    expect(interval.high).toBeGreaterThan(interval.low);
  });

  it('reaches at the edges as far as with clusters that are all alike', () => {
    // A mean of 60 shares, of which one is a tenth; the resampled means reach up to 0.005 or so.
    const data = sums(Array.from({ length: 60 }, (_, i) => [i === 0 ? 0.1 : 0, 1] as const));
    const { high, method } = clusterInterval(data, { random: random() });
    expect(method).toBe('cluster_bootstrap');
    expect(high).toBe(wilsonInterval(0, 60).high);
  });

  it('lies in [0, 1] and holds the rate, whatever the clusters', () => {
    const cluster = fc
      .integer({ min: 1, max: 50 })
      .chain((below) => fc.tuple(fc.integer({ min: 0, max: below }), fc.constant(below)));
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 1, maxLength: 12 }), fc.boolean(), (pairs, linear) => {
        const rate = pairs.reduce((a, [n]) => a + n, 0) / pairs.reduce((a, [, d]) => a + d, 0);
        const options = { random: random(), resamples: 200, maxClusters: linear ? 0 : 100 };
        const { low, high } = clusterInterval(sums(pairs), options);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(rate);
        expect(high).toBeGreaterThanOrEqual(rate);
        expect(high).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('refuses to speak about nothing', () => {
    expect(() => clusterInterval(sums([]), { random: random() })).toThrow(RangeError);
  });
});
