import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holmAdjusted } from './holm.ts';

const p = fc.double({ min: 0, max: 1, noNaN: true });

describe('holmAdjusted', () => {
  it('gives the worked example in the manual of pingouin.multicomp(method="holm")', () => {
    const adjusted = holmAdjusted([0.5, 0.003, 0.32, 0.054, 0.0003]);
    for (const [i, expected] of [0.64, 0.012, 0.64, 0.162, 0.0015].entries()) {
      expect(adjusted[i]).toBeCloseTo(expected, 12);
    }
  });

  it('by hand: 3 x 0.01, then 2 x 0.02, then the largest so far', () => {
    expect(holmAdjusted([0.03, 0.01, 0.02])).toEqual([0.04, 0.03, 0.04]);
  });

  it('of one test is the test, of none is none', () => {
    expect(holmAdjusted([0.2])).toEqual([0.2]);
    expect(holmAdjusted([])).toEqual([]);
  });

  it('keeps the order, is at least the raw value and at most m times it, and lies in [0, 1]', () => {
    fc.assert(
      fc.property(fc.array(p, { maxLength: 12 }), (values) => {
        const adjusted = holmAdjusted(values);
        for (const [i, value] of values.entries()) {
          const own = adjusted[i] as number;
          expect(own).toBeGreaterThanOrEqual(value);
          expect(own).toBeLessThanOrEqual(
            Math.min(1, values.length * Math.max(value, ...values.filter((v) => v <= value))),
          );
          for (const [j, other] of values.entries())
            if (value < other) expect(own).toBeLessThanOrEqual(adjusted[j] as number);
        }
      }),
    );
  });

  it('does not depend on the order of the tests', () => {
    fc.assert(
      fc.property(fc.array(p, { maxLength: 8 }), (values) => {
        expect(holmAdjusted([...values].reverse()).reverse()).toEqual(holmAdjusted(values));
      }),
    );
  });

  it('rejects what Holm rejects, step by step', () => {
    fc.assert(
      fc.property(fc.uniqueArray(p, { maxLength: 8 }), (values) => {
        const adjusted = holmAdjusted(values);
        let open = true;
        for (const [step, value] of [...values].sort((a, b) => a - b).entries()) {
          open &&= value * (values.length - step) <= 0.05;
          expect((adjusted[values.indexOf(value)] as number) <= 0.05).toBe(open);
        }
      }),
    );
  });

  it('refuses what is no p-value', () => {
    expect(() => holmAdjusted([0.5, Number.NaN])).toThrow(RangeError);
    expect(() => holmAdjusted([1.1])).toThrow(RangeError);
  });
});
