import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeOutcome, type FakeScore, fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { type CiMetricsAccumulator, createCiMetrics } from './metrics.ts';

function accumulate(records: readonly SampleRecord[]): CiMetricsAccumulator {
  const metrics = createCiMetrics({ bootstrapSeed: 7 });
  for (const record of records) metrics.add(record);
  return metrics;
}

const outcome = fc.constantFrom<FakeOutcome>('yes', 'no', 'open', 'missing');
const shape = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd'),
  secrets: fc.array(outcome, { maxLength: 3 }),
  fields: fc.array(outcome, { maxLength: 3 }),
  score: fc.constantFrom<FakeScore>(0, 1, 2, 3, 'open', 'missing'),
  domain: fc.constantFrom('Work', 'Family', 'Health'),
  message: fc.constantFrom('', "I can't help with that.", 'Dear Ana, see you on Monday.'),
  runId: fc.constantFrom('run-1', 'run-2'),
  failed: fc.boolean(),
  ms: fc.double({ min: 0, max: 1e5, noNaN: true }),
  cost: fc.double({ min: 0, max: 1, noNaN: true }),
});

const records = fc.array(shape, { minLength: 2, maxLength: 12 }).map((shapes) =>
  shapes.map(({ failed, domain, ms, cost, secrets, fields, score, ...sample }, repeat): SampleRecord => {
    const common = { ...sample, repeat, cluster: `of ${sample.id}`, tags: { domain }, timings: { total_ms: ms } };
    const record = failed ? fakeFailed(common) : fakeDone({ ...common, secrets, fields, score });
    record.usage.judge.cost_usd = cost;
    return record;
  }),
);

describe('merging', () => {
  it('two halves equals the whole, to the last bit', () => {
    fc.assert(
      fc.property(records, fc.nat({ max: 12 }), (all, at) => {
        const half = accumulate(all.slice(0, at));
        half.merge(accumulate(all.slice(at)));
        expect(JSON.stringify(half.result())).toBe(JSON.stringify(accumulate(all).result()));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps arms apart', () => {
    const metrics = accumulate([fakeDone({ id: 'a', memory: 'bm25' })]);
    expect(() => metrics.merge(accumulate([fakeDone({ id: 'b', memory: 'vector' })]))).toThrow(
      expect.objectContaining({ code: 'records_mixed' }),
    );
  });

  it('goes on from there', () => {
    const metrics = accumulate([]);
    metrics.merge(accumulate([fakeDone({ id: 'a', secrets: ['yes'] })]));
    metrics.add(fakeDone({ id: 'b', secrets: ['no'] }));
    expect(metrics.result().leakage.per_scenario).toMatchObject({ numerator: 1, denominator: 2 });
  });
});
