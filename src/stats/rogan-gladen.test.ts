import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { effectiveShare } from './effective-size.ts';
import { roganGladen, type Share } from './rogan-gladen.ts';

const share = (hits: number, of: number): Share => ({ hits, of });

describe('roganGladen', () => {
  it('gives the published interval', () => {
    // Example 1 of Lang and Reiczigel (2014), as the R package asht has it: prevSeSp(AP=4060/11284, nP=11284,
    // Se=178/179, nSe=179, Sp=358/359, nSp=359): 95 % interval 0.349 to 0.372.
    const corrected = roganGladen({
      apparent: share(4060, 11284),
      sensitivity: share(178, 179),
      specificity: share(358, 359),
    });
    expect(corrected.defined && corrected.low).toBeCloseTo(0.349, 3);
    expect(corrected.defined && corrected.high).toBeCloseTo(0.372, 3);
    expect(corrected.defined && corrected.value).toBeCloseTo((4060 / 11284 - 1 / 359) / (178 / 179 - 1 / 359), 12);
  });

  it('gives the point of the published brucellosis survey', () => {
    // 23 of 150 cows positive, sensitivity 0.96, specificity 0.89: 5.1 per 100 (the example of epiR's epi.prev).
    const corrected = roganGladen({
      apparent: share(23, 150),
      sensitivity: share(96, 100),
      specificity: share(89, 100),
    });
    expect(corrected.defined && corrected.value).toBeCloseTo(0.051, 3);
  });

  it('agrees with an independent program', () => {
    // Python, eq. 6, 7, 16, 17 of the paper written down again: lr(30, 200, 45, 50, 95, 100)
    //   0.117647058823529, 0.037886222, 0.195128663
    const corrected = roganGladen({
      apparent: share(30, 200),
      sensitivity: share(45, 50),
      specificity: share(95, 100),
    });
    expect(corrected.defined && corrected.value).toBeCloseTo(0.117647058823529, 12);
    expect(corrected.defined && corrected.low).toBeCloseTo(0.037886222, 8);
    expect(corrected.defined && corrected.high).toBeCloseTo(0.195128663, 8);
  });

  it('cuts at 0 and says so, and is undefined where no share could give the rate', () => {
    const sensitivity = share(45, 50);
    expect(roganGladen({ apparent: share(8, 100), sensitivity, specificity: share(90, 100) })).toMatchObject({
      ...{ defined: true, value: 0, low: 0, clipped: true },
    });
    // -0.197 to -0.002 by the same program
    expect(roganGladen({ apparent: share(2, 100), sensitivity, specificity: share(90, 100) })).toMatchObject({
      defined: false,
    });
  });

  it('is undefined for a judge that tells nothing, and without anything judged', () => {
    const half = share(50, 100);
    expect(roganGladen({ apparent: half, sensitivity: half, specificity: half })).toMatchObject({ defined: false });
    expect(roganGladen({ apparent: share(0, 0), sensitivity: half, specificity: half })).toEqual({
      defined: false,
      reason: 'nothing was judged to tell the rate from',
    });
    expect(() => roganGladen({ apparent: share(3, 2), sensitivity: half, specificity: half })).toThrow(RangeError);
  });

  it('leaves a rate as it is for a judge that never errs', () => {
    const perfect = share(1000, 1000);
    const corrected = roganGladen({ apparent: share(30, 100), sensitivity: perfect, specificity: perfect });
    expect(corrected.defined && corrected.value).toBeCloseTo(0.3, 12);
    expect(corrected.defined && corrected.clipped).toBe(false);
  });

  it('lies in its interval and in [0, 1]', () => {
    const any = fc
      .integer({ min: 1, max: 500 })
      .chain((of) => fc.integer({ min: 0, max: of }).map((hits) => share(hits, of)));
    fc.assert(
      fc.property(any, any, any, (apparent, sensitivity, specificity) => {
        const corrected = roganGladen({ apparent, sensitivity, specificity });
        if (!corrected.defined) return;
        expect(corrected.low).toBeGreaterThanOrEqual(0);
        expect(corrected.low).toBeLessThanOrEqual(corrected.value);
        expect(corrected.high).toBeGreaterThanOrEqual(corrected.value);
        expect(corrected.high).toBeLessThanOrEqual(1);
      }),
    );
  });

  it.each([
    [0.05, 0.9, 0.95],
    [0.2, 0.85, 0.9],
    [0.5, 0.7, 0.8],
  ])(
    'holds the truth in at least 90 of 100 simulated audits: leakage %d, sensitivity %d, specificity %d',
    (...truth) => {
      const [leakage, sensitivity, specificity] = truth;
      const held = Array.from({ length: 100 }, (_, seed) => {
        const random = seededRandom('simulation', seed, ...truth);
        const draw = (of: number, chance: number) =>
          share(Array.from({ length: of }, random).filter((drawn) => drawn < chance).length, of);
        const called = leakage * sensitivity + (1 - leakage) * (1 - specificity);
        const corrected = roganGladen({
          apparent: draw(400, called),
          sensitivity: draw(150, sensitivity),
          specificity: draw(120, specificity),
        });
        return corrected.defined && corrected.low <= leakage && leakage <= corrected.high;
      }).filter(Boolean).length;
      expect(held).toBeGreaterThanOrEqual(90);
    },
  );
});

describe('effectiveShare', () => {
  const sums = (pairs: readonly (readonly [number, number])[]) => ({
    numerators: Float64Array.from(pairs, ([above]) => above),
    denominators: Float64Array.from(pairs, ([, below]) => below),
  });

  it('counts a cluster whose members always agree as about one observation', () => {
    // Ten clusters of ten, five all yes: share 0.5, binomial variance 0.0025, cluster variance 10/9 * 250 / 10000 = 1/36.
    const pairs = Array.from({ length: 10 }, (_, i) => [i < 5 ? 10 : 0, 10] as const);
    const { hits, of } = effectiveShare(sums(pairs));
    expect(of).toBeCloseTo(100 * 0.0025 * 36, 10);
    expect(hits / of).toBeCloseTo(0.5, 12);
  });

  it('never counts more than there is', () => {
    const pairs = Array.from({ length: 50 }, () => [1, 2] as const);
    expect(effectiveShare(sums(pairs))).toEqual({ hits: 50, of: 100 });
  });

  it('counts clusters once each where they show no variance', () => {
    expect(
      effectiveShare(
        sums([
          [0, 5],
          [0, 3],
        ]),
      ),
    ).toEqual({ hits: 0, of: 2 });
    expect(effectiveShare(sums([[2, 4]]))).toEqual({ hits: 0.5, of: 1 });
    expect(effectiveShare(sums([]))).toEqual({ hits: 0, of: 0 });
  });
});
