import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { exactMcNemar } from './mcnemar.ts';
import { normalTwoSided, signFlipTest } from './paired-sign-flip.ts';

const of = (...differences: number[]) => signFlipTest(Float64Array.from(differences), { random: seededRandom('test') });

describe('normalTwoSided', () => {
  // Python 3: from math import erfc, sqrt; erfc(z / sqrt(2))
  it.each([
    [0, 1],
    [0.5, 0.6170750774519738],
    [1.959963984540054, 0.05],
    [-2.9999, 0.0027006825659098496],
    [3, 0.0026997960632601913],
    [5, 5.733031437583892e-7],
    [10, 1.5239706048321186e-23],
  ])('of %d', (z, p) => {
    expect(normalTwoSided(z) / p).toBeCloseTo(1, 9);
  });
});

describe('signFlipTest', () => {
  it('counts every flip where few clusters differ', () => {
    // Of 2, 1, -1, 1, 3 the sum is 6; of the 32 signs, 8 reach 6 or -6 (counted in Python with itertools.product).
    expect(of(2, 1, -1, 1, 3)).toEqual({ p: 0.25, method: 'sign_flip_exact' });
  });

  it('is the exact McNemar test where every cluster has one pair', () => {
    const pair = fc.constantFrom(-1, 0, 1);
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 40 }), (pairs) => {
        const [up, down] = [1, -1].map((sign) => pairs.filter((each) => each === sign).length) as [number, number];
        expect(of(...pairs)).toEqual({ p: exactMcNemar(up, down), method: 'mcnemar_exact' });
      }),
    );
  });

  it('counted and by the binomial agree: one size, and nearly one size', () => {
    // 10 up and 2 down. With one size it is binomial; a hair's breadth from it, every flip is counted.
    const sizes = [...Array.from({ length: 10 }, () => 1), -1, -1];
    const counted = of(...sizes.map((size, i) => size * (1 + i * 1e-13)));
    expect(counted.method).toBe('sign_flip_exact');
    expect(counted.p).toBeCloseTo(exactMcNemar(10, 2), 12);
  });

  it('sampled is near the exact value', () => {
    // 20 sizes that alternate 1 and 2, 15 of them up. Exact by dynamic programming over sums in Python 3:
    //   d = [(1 + i % 2) * (1 if i < 15 else -1) for i in range(20)]; from collections import Counter
    //   c = Counter({0: 1}); then for each x: the new counts are those of s + x and of s - x for every s
    //   sum(n for s, n in c.items() if abs(s) >= abs(sum(d))) / 2 ** 20
    const differences = Array.from({ length: 20 }, (_, i) => (1 + (i % 2)) * (i < 15 ? 1 : -1));
    const result = of(...differences);
    expect(result.method).toBe('sign_flip_sampled');
    expect(Math.abs(result.p - 0.06445503234863281)).toBeLessThan(0.01);
  });

  it('of thousands of clusters is normal, and near the binomial it stands in for', () => {
    const sizes = Array.from({ length: 3000 }, (_, i) => (i < 1560 ? 1 : -1));
    const result = of(...sizes.map((size, i) => (i === 0 ? 1.000001 : size)));
    expect(result.method).toBe('sign_flip_normal');
    expect(Math.abs(result.p - exactMcNemar(1560, 1440))).toBeLessThan(0.002);
  });

  it('lies in (0, 1], has no direction, does not look at clusters without a difference', () => {
    const difference = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(fc.array(difference, { maxLength: 20 }), (differences) => {
        const { p } = of(...differences);
        expect(p).toBeGreaterThan(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(of(...differences.map((each) => -each)).p).toBe(p);
        expect(of(0, ...differences, 0).p).toBe(p);
      }),
      { numRuns: 50 },
    );
  });

  it('finds something in at most 5 of 100 where there is nothing', () => {
    let found = 0;
    for (let seed = 0; seed < 200; seed++) {
      const draw = seededRandom('null', seed);
      const differences = Float64Array.from({ length: 12 }, () => Math.round((draw() - 0.5) * 8));
      if (signFlipTest(differences, { random: draw }).p <= 0.05) found += 1;
    }
    expect(found).toBeLessThanOrEqual(18);
  });
});
