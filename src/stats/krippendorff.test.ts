import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { addCoincidences, alphaOf, coincidencesOf, krippendorffAlpha, noCoincidences } from './krippendorff.ts';

const random = () => seededRandom('test');

/** Units from one string a rater, a character a unit; `.` is a label that was not given. */
function unitsOf(...raters: string[]): number[][] {
  const labels = [...new Set(raters.join('').replace(/\./g, ''))].sort();
  return [...(raters[0] ?? '')].map((_, unit) =>
    labels.map((label) => raters.filter((rater) => rater[unit] === label).length),
  );
}
const pooled = (units: readonly number[][]) =>
  units.map((unit) => coincidencesOf(unit)).reduce(addCoincidences, noCoincidences(units[0]?.length ?? 0));

describe("Krippendorff's alpha", () => {
  // The three nominal examples of Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
  it.each([
    ['A: two observers, binary', ['0100000010', '1110010000'], 0.095],
    ['B: two observers, nominal', ['aabbdcccedda', 'babbbccceddd'], 0.692],
    ['C: four observers, missing labels', ['123321412...', '1233224125.3', '.3332342251.', '12332441251.'], 0.743],
  ] as [string, string[], number][])('gives the published value: %s', (_name, raters, expected) => {
    expect(alphaOf(pooled(unitsOf(...raters)))).toBeCloseTo(expected, 3);
  });

  it('leaves out labels that pair with nothing', () => {
    const units = unitsOf('123321412...', '1233224125.3', '.3332342251.', '12332441251.');
    // 40 of the 41 labels pair with another: the last unit has one label alone.
    expect(pooled(units).counts.reduce((sum, count) => sum + count, 0)).toBe(40);
  });

  it('has an interval around it, the same for the same seed', () => {
    const groups = unitsOf('aabbdcccedda', 'babbbccceddd').map((unit) => coincidencesOf(unit));
    const alpha = krippendorffAlpha(groups, { random: random() });
    expect(alpha).toEqual(krippendorffAlpha(groups, { random: random() }));
    expect(alpha).toMatchObject({ defined: true, items: 12 });
    if (!alpha.defined) return;
    expect(alpha.low).toBeGreaterThan(0.2);
    expect(alpha.low).toBeLessThan(0.692);
    expect(alpha.high).toBeGreaterThan(0.692);
    expect(alpha.high).toBeLessThanOrEqual(1);
  });

  it('agrees with the exact distribution of resamples of two groups', () => {
    // Groups {0,0} and {0,1}. All of 16 resample labels: twice the first has no alpha; one each: n = 4, agreeing 2,
    // counts 3 and 1, alpha = 1 - 3 * 2 / (16 - 10) = 0; twice the second: counts 2 and 2, alpha = 1 - 3 * 4 / 8 = -0.5.
    const alpha = krippendorffAlpha([coincidencesOf([2, 0]), coincidencesOf([1, 1])], { random: random() });
    expect(alpha).toEqual({ defined: true, value: 0, low: -0.5, high: 0, items: 2 });
  });

  it('says why there is none, and claims nothing from one group', () => {
    expect(krippendorffAlpha([], { random: random() })).toMatchObject({ defined: false });
    expect(krippendorffAlpha([coincidencesOf([1, 0])], { random: random() })).toMatchObject({
      defined: false,
      items: 0,
    });
    expect(krippendorffAlpha([coincidencesOf([2, 0], 9)], { random: random() })).toMatchObject({
      defined: false,
      reason: 'all labels are alike, so that there is nothing to tell apart',
    });
    const one = addCoincidences(coincidencesOf([2, 0]), coincidencesOf([0, 2]));
    expect(krippendorffAlpha([one], { random: random() })).toEqual({
      ...{ defined: true, value: 1, low: -1, high: 1, items: 2 },
    });
  });

  it('lies in its interval, and weights are repetitions', () => {
    const unit = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 12 }), (units) => {
        const groups = units.map((labels) => coincidencesOf(labels));
        const alpha = krippendorffAlpha(groups, { random: random(), resamples: 50 });
        const twice = alphaOf(pooled([...units, ...units]));
        const weighted = alphaOf(units.map((labels) => coincidencesOf(labels, 2)).reduce(addCoincidences));
        if (twice === undefined) expect(weighted).toBeUndefined();
        else expect(weighted).toBeCloseTo(twice, 10);
        if (!alpha.defined) return;
        expect(alpha.value).toBeLessThanOrEqual(1);
        expect(alpha.low).toBeLessThanOrEqual(alpha.value);
        expect(alpha.high).toBeGreaterThanOrEqual(alpha.value);
      }),
    );
  });
});
