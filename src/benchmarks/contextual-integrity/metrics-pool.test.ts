import { describe, expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { renderHtml } from '../../report/render-html.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { ciMetricsSchema } from '../../schema/ci-metrics.ts';
import type { Fact, SampleRecord } from '../../schema/record.ts';
import { createCiMetrics } from './metrics.ts';
import { ciReport } from './report.ts';
import { ciRollup } from './rollup-document.ts';

function metricsOf(records: readonly SampleRecord[]) {
  const metrics = createCiMetrics({ bootstrapSeed: 0 });
  for (const record of records) metrics.add(record);
  return metrics.result();
}

/** `own` facts of the sample and `others` of other samples, two facts a session. */
const pool = (own: number, others: number, dated = false): Fact[] =>
  Array.from({ length: own + others }, (_, i) => ({
    id: `f${i}`,
    key: `k${i}`,
    text: `k${i}: v`,
    ...(i >= own ? { distractor: true as const } : {}),
    ...(dated ? { session: `s${Math.floor(i / 2)}` } : {}),
  }));
const searched = (k: number, ...ids: string[]) => [
  { query: 'q', requested_k: k, items: ids.map((id) => ({ text: id, fact_ids: [id] })) },
];
const fields = [{ key: 'k0', verdict: 'yes' as const }];

const records: SampleRecord[] = [
  fakeDone({ id: 'a', facts: pool(4, 0), fields, recalls: searched(4, 'f0', 'f1') }),
  fakeDone({ id: 'b', facts: pool(3, 8, true), fields, recalls: searched(4, 'f1', 'f9') }),
  // Everything comes back whatever k is: nothing is said of its k.
  fakeDone({ id: 'c', facts: pool(2, 0), fields, recalls: [{ query: 'q', items: [] }] }),
  fakeFailed({ id: 'd', facts: pool(5, 0) }),
];

describe('the pool', () => {
  it('is counted over all records: facts, distractors, sessions, and searches that could not choose', () => {
    const metrics = metricsOf(records);
    // 4, 11, 2 and 5 facts; 8 distractors in one of four; 11 facts in 6 sessions of two.
    expect(metrics.pool).toEqual({
      facts: { mean: 5.5, min: 2, max: 11 },
      distractors: { mean: 2, min: 0, max: 8 },
      sessions: { mean: 1.5, min: 0, max: 6 },
      searched: 2,
      covered: 1,
    });
    expect(ciMetricsSchema.safeParse(metrics).success).toBe(true);
  });

  it('is that of what the memory held where that is known', () => {
    const rewritten = fakeDone({ id: 'a', facts: pool(9, 0), fields, recalls: searched(4, 'f0') });
    expect(metricsOf([{ ...rewritten, stored: [{ text: 'a summary', fact_ids: [] }] }]).pool).toMatchObject({
      covered: 1,
    });
    expect(metricsOf([{ ...rewritten, stored: [] }]).pool).toMatchObject({ searched: 0, covered: 0 });
  });

  it('is the same for two halves as for the whole', () => {
    const [left, right] = [createCiMetrics({ bootstrapSeed: 0 }), createCiMetrics({ bootstrapSeed: 0 })];
    for (const [i, record] of records.entries()) (i % 2 === 0 ? left : right).add(record);
    left.merge(right);
    expect(left.result().pool).toEqual(metricsOf(records).pool);
  });

  it('stands in the report, with a note where top_k is at or above it', () => {
    const document = ciReport(metricsOf(records));
    const text = renderMarkdown(document);
    expect(text).toContain(
      '| Pool | 5.5 (2 to 11) facts a sample, 2 (0 to 8) of them from other samples, in 1.5 (0 to 6) sessions |',
    );
    expect(text).toContain('For 1 of 4 samples top\\_k (4) is at or above the pool');
    expect(text).toContain('recall\\@k');
    expect(renderHtml(document)).toContain('is at or above the pool');
    const enough = renderMarkdown(ciReport(metricsOf(records.slice(1))));
    expect(enough).not.toContain('at or above the pool');
    expect(renderMarkdown(ciReport(metricsOf([fakeDone({ id: 'a', facts: pool(4, 0) })])))).toContain(
      '| Pool | 4 facts a sample |',
    );
  });

  it('stands in the rollup beside recall, precision and leakage', () => {
    const text = renderMarkdown(ciRollup([metricsOf(records)], []));
    expect(text).toContain('## What the memories brought');
    // Wanted: k0 of a, b and c, found in a alone; of four items one is wanted.
    const row = text.split('\n').find((line) => line.includes('5.5 (2 to 11)'));
    expect(row).toContain('2 (0 to 8) from other samples');
    expect(row).toMatch(/33\.3 %.*1 \/ 3.*25\.0 %.*1 \/ 4/);
    expect(text).toContain('for 1 of 4 records');
    const never = metricsOf([fakeDone({ id: 'a', facts: pool(4, 0), fields })]);
    expect(renderMarkdown(ciRollup([never], []))).not.toContain('What the memories brought');
  });
});
