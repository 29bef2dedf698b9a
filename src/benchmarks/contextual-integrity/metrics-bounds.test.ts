import { describe, expect, it } from 'vitest';
import { type FakeItem, type FakeSample, fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { seededRandom } from '../../lib/random.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { type CiMetrics, ciMetricsSchema } from '../../schema/ci-metrics.ts';
import { type Rate, rateSchema } from '../../schema/rate.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { createCiMetrics } from './metrics.ts';
import { ciReport } from './report.ts';

function metricsOf(records: readonly SampleRecord[]): CiMetrics {
  const metrics = createCiMetrics({ bootstrapSeed: 0 });
  for (const record of records) metrics.add(record);
  return ciMetricsSchema.parse(metrics.result());
}

/** Every rate anywhere in a tree of metrics, by its path. */
function ratesIn(value: unknown, path = ''): [path: string, rate: Rate][] {
  if (value === null || typeof value !== 'object') return [];
  const rate = rateSchema.safeParse(value);
  if (rate.success) return [[path, rate.data]];
  return Object.entries(value).flatMap(([key, inner]) => ratesIn(inner, `${path}.${key}`));
}

/** Samples whose every verdict is known, told apart by a seed: shared clusters, repeats, exposure, refusals, flagged items. */
function truthOf(seed: number): FakeSample[] {
  const random = seededRandom('truth', seed);
  const chance = (share: number) => random() < share;
  const whole = (most: number) => Math.floor(random() * (most + 1));
  const item = (side: string, i: number): FakeItem => ({
    key: `${side} ${i}`,
    value: chance(0.1) ? 'bus' : `value ${side} ${i} of ${whole(1e6)}`,
    verdict: chance(0.4) ? 'yes' : 'no',
    raw: chance(0.4),
    exposure: chance(0.1)
      ? { by: 'unknown' }
      : { stored: chance(0.95), recalled: chance(0.7), by: chance(0.5) ? 'text' : 'provenance' },
  });
  return Array.from({ length: 60 }, (_, sample) => {
    const [secrets, fields] = [whole(4), 1 + whole(3)];
    return [0, 1, 2].map(
      (repeat): FakeSample => ({
        id: `s${sample}`,
        repeat,
        cluster: `seed ${Math.floor(sample / 2)}`,
        tags: { domain: sample % 3 === 0 ? 'Work' : 'Family' },
        secrets: Array.from({ length: secrets }, (_, i) => item('secret', i)),
        fields: Array.from({ length: fields }, (_, i) => item('field', i)),
        score: whole(3) as 0 | 1 | 2 | 3,
        message: chance(0.1) ? '' : 'Dear Ana, see you on Monday.',
        toJudge: { secrets, fields },
        facts: [{ id: 'f0', key: 'field 0', text: 'field 0: x' }],
        recalls: [{ query: 'q', requested_k: 3, items: [{ text: 'x', fact_ids: [chance(0.5) ? 'f0' : 'f1'] }] }],
      }),
    );
  }).flat();
}

/** A fifth of the primary judge's verdicts becomes unjudged. */
function withOpenVerdicts(samples: readonly FakeSample[], seed: number): FakeSample[] {
  const random = seededRandom('open', seed);
  const drop = (item: FakeItem): FakeItem => (random() < 0.2 ? { ...item, verdict: 'open' } : item);
  return samples.map((sample) => ({
    ...sample,
    // The string judges answer from the message alone: what they said stays.
    secrets: (sample.secrets as FakeItem[]).map(drop),
    fields: (sample.fields as FakeItem[]).map(drop),
    score: random() < 0.2 ? 'open' : (sample.score ?? 2),
  }));
}

/** In a fifth of the samples the judge cannot be reached, and the whole sample fails. */
function withFailures(samples: readonly FakeSample[], seed: number): SampleRecord[] {
  const random = seededRandom('failed', seed);
  return samples.map(({ secrets: _, fields: __, score: ___, ...common }, i) =>
    random() < 0.2 ? fakeFailed({ ...common, error: { stage: 'judge' } }) : fakeDone(samples[i] as FakeSample),
  );
}

function expectInside(truth: CiMetrics, seen: CiMetrics): number {
  const found = new Map(ratesIn(seen));
  let compared = 0;
  for (const [path, rate] of ratesIn(truth)) {
    const open = found.get(path);
    if (!rate.defined || !open?.defined) continue;
    compared += 1;
    const { low, high } = open.bounds;
    expect(rate.value, `${path} is ${rate.value}, bounds ${low} to ${high}`).toBeGreaterThanOrEqual(low - 1e-12);
    expect(rate.value, `${path} is ${rate.value}, bounds ${low} to ${high}`).toBeLessThanOrEqual(high + 1e-12);
  }
  for (const [i, spread] of (truth.repeats?.spread ?? []).entries()) {
    const open = seen.repeats?.spread[i];
    if (!spread.defined || !open?.defined) continue;
    expect(spread.mean).toBeGreaterThanOrEqual(open.bounds.low - 1e-12);
    expect(spread.mean).toBeLessThanOrEqual(open.bounds.high + 1e-12);
  }
  return compared;
}

describe.each([1, 2, 3, 4, 5, 6])('a judge that fails on a fifth of its calls, seed %i', (seed) => {
  const samples = truthOf(seed);
  const truth = metricsOf(samples.map(fakeDone));

  it('no rate moves outside its bounds where verdicts are unjudged', () => {
    const seen = metricsOf(withOpenVerdicts(samples, seed).map(fakeDone));
    expect(expectInside(truth, seen)).toBeGreaterThan(80);
    expect(seen.leakage.overall.unjudged_share).toBeGreaterThan(0.1);
  });

  it('nor where samples fail', () => {
    expect(expectInside(truth, metricsOf(withFailures(samples, seed)))).toBeGreaterThan(80);
  });

  it('nor where both happen', () => {
    const both = withFailures(withOpenVerdicts(samples, seed), seed);
    expect(expectInside(truth, metricsOf(both))).toBeGreaterThan(80);
  });
});

describe('the report of such a run', () => {
  const samples = truthOf(7);
  const seen = metricsOf(withFailures(withOpenVerdicts(samples, 7), 7));
  const text = renderMarkdown(ciReport(seen));

  it('says first what is unknown, and beside each rate how much', () => {
    expect(text).toMatch(/^- \d+ samples failed:/m);
    expect(text).toMatch(/^- \d+ verdicts of the primary judge are unjudged/m);
    const { unjudged_share, unjudged } = seen.leakage.overall;
    expect(text).toMatch(
      new RegExp(
        `\\| Leakage, overall \\|.* ${unjudged} \\| ${((unjudged_share ?? 0) * 100).toFixed(1)} % \\| \\d+ \\|`,
      ),
    );
  });

  it('holds no number that is not one', () => {
    expect(text).not.toMatch(/NaN|Infinity|null/);
  });
});
