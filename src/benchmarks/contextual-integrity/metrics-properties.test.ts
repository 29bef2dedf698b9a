import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeOutcome, type FakeScore, fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { seededRandom, shuffled } from '../../lib/random.ts';
import { type CiRates, ciMetricsSchema } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { createCiMetrics } from './metrics.ts';

const outcome = fc.constantFrom<FakeOutcome>('yes', 'no', 'open', 'missing');
const shape = fc.record({
  secrets: fc.array(outcome, { maxLength: 4 }),
  fields: fc.array(outcome, { maxLength: 4 }),
  score: fc.constantFrom<FakeScore>(0, 1, 2, 3, 'open', 'missing'),
  cluster: fc.constantFrom('c1', 'c2', 'c3'),
  domain: fc.constantFrom('Work', 'Family'),
  failed: fc.boolean(),
  ms: fc.double({ min: 0, max: 1e5, noNaN: true }),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

function recordsOf(shapes: readonly Shape[]): SampleRecord[] {
  return shapes.map(({ failed, domain, ms, ...sample }, i) => {
    const common = { id: `s${i}`, cluster: sample.cluster, tags: { domain }, timings: { total_ms: ms } };
    return failed && i % 3 === 0 ? fakeFailed(common) : fakeDone({ ...sample, ...common });
  });
}

function metricsOf(records: readonly SampleRecord[]) {
  const metrics = createCiMetrics({ bootstrapSeed: 7 });
  for (const record of records) metrics.add(record);
  return metrics.result();
}

const allRates = ({ leakage, coverage, helpfulness }: CiRates): Rate[] => [
  ...Object.values(leakage),
  ...Object.values(coverage),
  helpfulness,
];

const shapes = fc.array(shape, { minLength: 1, maxLength: 10 });
const few = { numRuns: 40 };

describe('metrics of any records', () => {
  it('fit their schema: no NaN, no infinity, every share in [0, 1]; intervals and bounds hold the value', () => {
    fc.assert(
      fc.property(shapes, (drawn) => {
        const metrics = ciMetricsSchema.parse(metricsOf(recordsOf(drawn)));
        const groups = [metrics, ...metrics.breakdowns.flatMap(({ values }) => values)];
        for (const rate of groups.flatMap(allRates)) {
          if (!rate.defined) continue;
          for (const { low, high } of [rate.interval, rate.bounds]) {
            expect(low).toBeLessThanOrEqual(rate.value);
            expect(high).toBeGreaterThanOrEqual(rate.value);
          }
        }
        expect(JSON.parse(JSON.stringify(metrics))).toEqual(metrics);
      }),
      few,
    );
  });

  it('do not depend on the order of records, not even in the last bit', () => {
    fc.assert(
      fc.property(shapes, fc.integer(), (drawn, seed) => {
        const records = recordsOf(drawn);
        const mixed = shuffled(records, seededRandom(seed));
        expect(JSON.stringify(metricsOf(mixed))).toBe(JSON.stringify(metricsOf(records)));
      }),
      few,
    );
  });

  it('have bounds that hold the rate of every way to settle what is open', () => {
    fc.assert(
      fc.property(shapes, fc.integer(), (drawn, seed) => {
        const random = seededRandom(seed);
        const settle = (each: FakeOutcome): FakeOutcome =>
          each === 'yes' || each === 'no' ? each : random() < 0.5 ? 'yes' : 'no';
        const settled = drawn.map((sample) => ({
          ...sample,
          secrets: sample.secrets.map(settle),
          fields: sample.fields.map(settle),
          score: typeof sample.score === 'number' ? sample.score : random() < 0.5 ? (0 as const) : (2 as const),
        }));
        const before = allRates(metricsOf(recordsOf(drawn)));
        const after = allRates(metricsOf(recordsOf(settled)));
        for (const [i, rate] of before.entries()) {
          const truth = after[i];
          if (!rate.defined || !truth?.defined) continue;
          expect(truth.value).toBeGreaterThanOrEqual(rate.bounds.low - 1e-12);
          expect(truth.value).toBeLessThanOrEqual(rate.bounds.high + 1e-12);
        }
      }),
      few,
    );
  });
});
