import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeOutcome, type FakeScore, fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import type { CiGrade } from '../../schema/ci-grade.ts';
import type { Json } from '../../schema/json.ts';
import type { DoneRecord, SampleRecord } from '../../schema/record.ts';
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
  second: fc.option(outcome),
  ms: fc.double({ min: 0, max: 1e5, noNaN: true }),
  cost: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** The same record with another model's verdicts, all alike, beside the first one's. */
function withSecondJudge(record: DoneRecord, said: FakeOutcome): DoneRecord {
  const judge = { id: 'ci_llm_judge:openai:other', type: 'ci_llm_judge' } as const;
  const other = fakeDone({ id: 'x', secrets: [said], primary: judge }).grade as unknown as CiGrade;
  const verdict = other.secrets[0]?.verdicts[judge.id];
  const grade = structuredClone(record.grade) as unknown as CiGrade;
  grade.judges.push(judge);
  for (const item of [...grade.secrets, ...grade.fields]) if (verdict) item.verdicts[judge.id] = verdict;
  return { ...record, grade: grade as unknown as Json };
}

const records = fc.array(shape, { minLength: 2, maxLength: 12 }).map((shapes) =>
  shapes.map(({ failed, second, domain, ms, cost, secrets, fields, score, ...sample }, repeat): SampleRecord => {
    const common = { ...sample, repeat, cluster: `of ${sample.id}`, tags: { domain }, timings: { total_ms: ms } };
    const graded = fakeDone({ ...common, secrets, fields, score });
    const record = failed ? fakeFailed(common) : second === null ? graded : withSecondJudge(graded, second);
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
