import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { newcombePaired } from './newcombe-paired.ts';
import { type ClusterDifferences, pairedClusterInterval } from './paired-bootstrap.ts';
import { Z95 } from './wilson.ts';

const data = (pairs: readonly (readonly [number, number])[]): ClusterDifferences => ({
  differences: Float64Array.from(pairs, ([above]) => above),
  units: Float64Array.from(pairs, ([, below]) => below),
});
const random = () => seededRandom('test');

describe('pairedClusterInterval', () => {
  it('agrees with the exact distribution of resamples of two clusters', () => {
    // Differences -1 and 1: a resample has mean -1, 0, 0 or 1, a quarter each, so the 2.5 % and 97.5 % points are the ends.
    expect(
      pairedClusterInterval(
        data([
          [-1, 1],
          [1, 1],
        ]),
        { random: random() },
      ),
    ).toEqual({ low: -1, high: 1, method: 'paired_cluster_bootstrap' });
  });

  it('is close to the quantiles of the sum it resamples', () => {
    // 100 pairs, 20 up and 5 down: the resampled sum has mean 15 and variance 100 (0.25 - 0.15^2) = 22.75, so the points
    // are near 0.15 +- 1.96 sqrt(22.75) / 100 = 0.0565 and 0.2435.
    const pairs = Array.from({ length: 100 }, (_, i) => [i < 20 ? 1 : i < 25 ? -1 : 0, 1] as const);
    const { low, high } = pairedClusterInterval(data(pairs), { random: random() });
    expect(Math.abs(low - 0.0565)).toBeLessThanOrEqual(0.01);
    expect(Math.abs(high - 0.2435)).toBeLessThanOrEqual(0.01);
  });

  it('is linearised beyond the limit of clusters, by the formula worked out by hand', () => {
    // r = (1 - 1 + 2) / 6 = 1/3; residuals 1 - 2/3, -1 - 1/3, 2 - 1: squares 1/9 + 16/9 + 1 = 26/9; all of it 30 times.
    const three = [
      [1, 2],
      [-1, 1],
      [2, 3],
    ] as const;
    const interval = pairedClusterInterval(data(Array.from({ length: 30 }, () => three).flat()), {
      random: random(),
      maxClusters: 2,
    });
    const half = (Z95 * Math.sqrt((90 / 89) * 30 * (26 / 9))) / 180;
    expect(interval.method).toBe('paired_cluster_linearised');
    expect(interval.low).toBeCloseTo(1 / 3 - half, 12);
    expect(interval.high).toBeCloseTo(1 / 3 + half, 12);
  });

  it.each([5000, 2])('does not shrink when the first of 72 clusters differs (limit of clusters %i)', (maxClusters) => {
    const same = Array.from({ length: 72 }, () => [0, 3] as const);
    const none = pairedClusterInterval(data(same), { random: random(), maxClusters });
    // Wilson's upper limit of 0 of 72: z^2 / (72 + z^2) = 3.8415 / 75.8415.
    expect(none.high).toBeCloseTo(3.8415 / 75.8415, 4);
    for (let worse = 1; worse <= 5; worse++) {
      const some = data(same.map(([difference, units], i) => [i < worse ? 1 : difference, units] as const));
      expect(pairedClusterInterval(some, { random: random(), maxClusters }).high).toBeGreaterThanOrEqual(none.high);
    }
  });

  it('linearised and resampled agree on many clusters', () => {
    const draw = seededRandom('data');
    const many = data(Array.from({ length: 2000 }, () => [Math.floor(draw() * 5) - 1, 4] as const));
    const sampled = pairedClusterInterval(many, { random: random() });
    const linear = pairedClusterInterval(many, { random: random(), maxClusters: 100 });
    expect(Math.abs(sampled.low - linear.low)).toBeLessThan(0.003);
    expect(Math.abs(sampled.high - linear.high)).toBeLessThan(0.003);
  });

  it('claims no certainty where no cluster differs: as wide as Newcombe for as many pairs', () => {
    const alike = pairedClusterInterval(data(Array.from({ length: 54 }, () => [0, 3] as const)), { random: random() });
    const newcombe = newcombePaired({ bothYes: 0, firstOnly: 0, secondOnly: 0, bothNo: 54 });
    expect(alike.method).toBe('paired_cluster_alike');
    expect(alike.low).toBeCloseTo(newcombe.low, 12);
    expect(alike.high).toBeCloseTo(newcombe.high, 12);
  });

  it('leaves room for other clusters where all differ by the same amount', () => {
    // h = z^2 / (10 + z^2) of the clusters may be otherwise, and then by -1 at worst: 0.5 - 1.5 h and 0.5 + 0.5 h.
    const h = (Z95 * Z95) / (10 + Z95 * Z95);
    const { low, high } = pairedClusterInterval(data(Array.from({ length: 10 }, () => [1, 2] as const)), {
      random: random(),
    });
    expect(low).toBeCloseTo(0.5 - 1.5 * h, 12);
    expect(high).toBeCloseTo(0.5 + 0.5 * h, 12);
  });

  it('lies in [-1, 1], holds the difference, and turns its sign with the sides, whatever the clusters', () => {
    const cluster = fc
      .integer({ min: 1, max: 30 })
      .chain((units) => fc.tuple(fc.integer({ min: -units, max: units }), fc.constant(units)));
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 1, maxLength: 12 }), fc.boolean(), (pairs, linear) => {
        const options = () => ({ random: random(), resamples: 200, maxClusters: linear ? 0 : 100 });
        const difference = pairs.reduce((a, [n]) => a + n, 0) / pairs.reduce((a, [, d]) => a + d, 0);
        const { low, high } = pairedClusterInterval(data(pairs), options());
        expect(low).toBeGreaterThanOrEqual(-1);
        expect(low).toBeLessThanOrEqual(difference);
        expect(high).toBeGreaterThanOrEqual(difference);
        expect(high).toBeLessThanOrEqual(1);
        const turned = pairedClusterInterval(data(pairs.map(([n, d]) => [-n, d] as const)), options());
        expect(turned.low).toBeCloseTo(-high, 12);
        expect(turned.high).toBeCloseTo(-low, 12);
      }),
    );
  });

  it('holds a known difference in about 95 of 100 simulated experiments', () => {
    // 60 clusters of 1 to 4 pairs; within a cluster all pairs go the same way: up with 0.3, down with 0.1, so 0.2.
    let held = 0;
    for (let seed = 0; seed < 200; seed++) {
      const draw = seededRandom('simulated', seed);
      const pairs = Array.from({ length: 60 }, () => {
        const units = 1 + Math.floor(draw() * 4);
        const way = draw();
        return [way < 0.3 ? units : way < 0.4 ? -units : 0, units] as const;
      });
      const { low, high } = pairedClusterInterval(data(pairs), { random: seededRandom(seed), resamples: 500 });
      if (low <= 0.2 && 0.2 <= high) held += 1;
    }
    expect(held).toBeGreaterThanOrEqual(180);
  });

  it('refuses to speak about nothing', () => {
    expect(() => pairedClusterInterval(data([]), { random: random() })).toThrow(RangeError);
  });
});
