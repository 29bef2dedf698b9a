import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FakeOutcome,
  type FakeSample,
  type FakeScore,
  fakeDone,
  fakeFailed,
} from '../../../test/support/fake-records.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { seededRandom, shuffled } from '../../lib/random.ts';
import {
  ciComparisonSchema,
  comparedMetrics,
  type DefinedDifference,
  type Difference,
} from '../../schema/ci-comparison.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { recordLine } from '../../store/records.ts';
import { compareRuns } from './compare.ts';
import { OutcomeTable, outcomeOfRecord } from './compare-outcomes.ts';
import { PairTally } from './compare-pairs.ts';
import type { RawDifference } from './compare-tallies.ts';
import { gradeOf } from './read-grade.ts';

const outcomeOf = (record: SampleRecord) => outcomeOfRecord(record, gradeOf(record));

/** Pairs two arms' records. */
function paired(baseline: readonly SampleRecord[], arm: readonly SampleRecord[]) {
  const table = new OutcomeTable();
  for (const record of baseline) table.add(record, outcomeOf(record));
  const pairs = new PairTally(table, 0);
  for (const record of arm) pairs.add(record, outcomeOf(record));
  return pairs.result();
}

const defined = <D extends RawDifference | Difference>(difference: D): Extract<D, { defined: true }> => {
  if (!difference.defined) throw new Error(`undefined: ${difference.reason}`);
  return difference as Extract<D, { defined: true }>;
};

/** A run folder with one record file an arm. */
async function runFolder(arms: Readonly<Record<string, readonly SampleRecord[]>>): Promise<string> {
  const dir = await tempFolder();
  for (const [name, records] of Object.entries(arms)) {
    await mkdir(join(dir, name));
    await writeFile(join(dir, name, 'runs.jsonl'), records.map(recordLine).join(''));
  }
  return dir;
}
const run = (dir: string, label = 'results/r') => ({ dir, label });

const samples = (experiment: string, drawn: readonly Omit<FakeSample, 'id'>[]): SampleRecord[] =>
  drawn.map((sample, i) => fakeDone({ ...sample, id: `s${i}`, experiment }));

describe('differences worked out by hand', () => {
  // Baseline and arm, one sample a column: leaks 1 0 0 0 1 0 against 1 1 1 0 0 0.
  const before = samples('before', [
    { secrets: ['yes', 'no'], fields: ['yes', 'no'], score: 2 },
    { secrets: ['no', 'no'], fields: ['yes', 'yes'], score: 2 },
    { secrets: ['no'], fields: ['no', 'no'], score: 1 },
    { secrets: ['no'], fields: ['yes'], score: 3 },
    { secrets: ['yes'], fields: ['no'], score: 0 },
    { secrets: ['no'], fields: [], score: 2 },
  ]);
  const after = samples('after', [
    { secrets: ['yes', 'yes'], fields: ['yes', 'yes'], score: 3 },
    { secrets: ['yes', 'no'], fields: ['yes', 'no'], score: 2 },
    { secrets: ['yes'], fields: ['yes', 'no'], score: 2 },
    { secrets: ['no'], fields: ['yes'], score: 1 },
    { secrets: ['no'], fields: ['no'], score: 0 },
    { secrets: ['no'], fields: [], score: 2 },
  ]);
  const { metrics, flips, pairing } = paired(before, after);

  it('pairs all six', () => {
    expect(pairing).toEqual({
      pairs: 6,
      clusters: 6,
      baseline_only: 0,
      arm_only: 0,
      different: { count: 0, samples: [] },
      failed: { baseline: 0, arm: 0, both: 0 },
    });
  });

  it('leakage per scenario: 2/6 against 3/6, two up, one down', () => {
    const difference = defined(metrics['leakage.per_scenario']);
    expect(difference).toMatchObject({ baseline: 2 / 6, arm: 3 / 6, judged: 6, of: 'pairs', clusters: 6 });
    expect(difference.value).toBeCloseTo(1 / 6, 12);
    // 3 pairs differ, 1 the other way: 2 (1 + 3) / 8 = 1.
    expect(difference).toMatchObject({ p: 1, p_method: 'mcnemar_exact' });
    expect(difference.interval.method).toBe('newcombe');
    const { low, high } = difference.interval;
    expect(difference.independent).toEqual({ low, high, p: 1 });
    expect(difference.bounds).toEqual({ low: difference.value, high: difference.value });
    expect(flips.leakage.arm_only).toEqual({
      count: 2,
      samples: [
        { sample_id: 's1', repeat: 0 },
        { sample_id: 's2', repeat: 0 },
      ],
    });
    expect(flips.leakage.baseline_only).toEqual({ count: 1, samples: [{ sample_id: 's4', repeat: 0 }] });
  });

  it('leakage overall: 2/8 against 4/8 secrets', () => {
    expect(defined(metrics['leakage.overall'])).toMatchObject({
      value: 0.25,
      baseline: 0.25,
      arm: 0.5,
      judged: 8,
      of: 'items',
    });
  });

  it('adjusted leakage: over s0, s1 and s5, which are helpful in both', () => {
    const difference = defined(metrics['leakage.adjusted']);
    expect(difference).toMatchObject({ judged: 3, baseline: 1 / 3, arm: 2 / 3 });
    expect(difference.value).toBeCloseTo(1 / 3, 12);
  });

  it('coverage: 4/8 against 5/8 fields, and the mean of 0.5, -0.5, 0.5, 0, 0 over the samples with fields', () => {
    expect(defined(metrics['coverage.overall'])).toMatchObject({ value: 0.125, baseline: 0.5, arm: 0.625, judged: 8 });
    const difference = defined(metrics['coverage.per_scenario']);
    expect(difference).toMatchObject({ value: 0.1, baseline: 0.5, judged: 5, of: 'pairs' });
    expect(difference.arm).toBeCloseTo(0.6, 12);
    // Three differ, all by 0.5, one of them down: 1.
    expect(difference).toMatchObject({ p: 1, p_method: 'mcnemar_exact' });
  });

  it('helpfulness: 4/6 against 4/6, one up, one down', () => {
    expect(defined(metrics.helpfulness)).toMatchObject({ value: 0, baseline: 4 / 6, arm: 4 / 6, p: 1 });
  });
});

describe('what is open', () => {
  it('is left out of the difference and taken both ways in its bounds', () => {
    const before = samples('before', [
      { secrets: ['no'], fields: ['yes', 'open'] },
      { secrets: ['open'], fields: ['yes'] },
      { secrets: ['yes'], fields: ['open'] },
      { secrets: ['open'], fields: ['no'] },
    ]);
    const after = samples('after', [
      { secrets: ['yes'], fields: ['no', 'yes'] },
      { secrets: ['yes'], fields: ['yes'] },
      { secrets: ['open'], fields: ['yes'] },
      { secrets: ['missing'], fields: ['no'] },
    ]);
    const { metrics } = paired(before, after);
    const leakage = defined(metrics['leakage.per_scenario']);
    expect(leakage).toMatchObject({ value: 1, judged: 1, open: { baseline: 1, arm: 1, both: 1 } });
    // s0: 1. s1: 0 or 1. s2: -1 or 0. s3: -1 to 1. So (1 + 0 - 1 - 1) / 4 and (1 + 1 + 0 + 1) / 4, and the value itself.
    expect(leakage.bounds).toEqual({ low: -0.25, high: 1 });
    const coverage = defined(metrics['coverage.per_scenario']);
    // s0 by its first field alone: -1; s1: 0; s3: 0; s2 is open.
    expect(coverage).toMatchObject({ judged: 3, open: { baseline: 1, arm: 0, both: 0 } });
    expect(coverage.value).toBeCloseTo(-1 / 3, 12);
    // s0: (-1 + (0 or 1)) / 2; s2: 0 or 1. So (-0.5 + 0 + 0 + 0) / 4 and (0 + 0 + 1 + 0) / 4, and the value itself.
    expect(coverage.bounds.low).toBeCloseTo(-1 / 3, 12);
    expect(coverage.bounds.high).toBe(0.25);
  });

  it('is a failed sample too, with the items that the other arm names', () => {
    const before = [fakeFailed({ id: 's0' }), fakeDone({ id: 's1', secrets: ['no', 'no'] })];
    const after = [fakeDone({ id: 's0', secrets: ['yes'] }), fakeDone({ id: 's1', secrets: ['no', 'yes'] })];
    const { metrics, pairing } = paired(before, after);
    expect(pairing.failed).toEqual({ baseline: 1, arm: 0, both: 0 });
    expect(defined(metrics['leakage.overall'])).toMatchObject({
      value: 0.5,
      judged: 2,
      open: { baseline: 1, arm: 0, both: 0 },
      // s0: 0 or 1; s1: 0 and 1. So 1/3 and 2/3, of three secrets.
      bounds: { low: 1 / 3, high: 2 / 3 },
    });
  });

  it('leaves a metric undefined, with the reason, where nothing is judged in both', () => {
    const { metrics } = paired(samples('a', [{ secrets: ['open'] }]), samples('b', [{ secrets: ['yes'] }]));
    expect(metrics['leakage.per_scenario']).toEqual({
      defined: false,
      reason: 'no pair is judged for leakage in both arms',
      of: 'pairs',
      judged: 0,
      open: { baseline: 1, arm: 0, both: 0 },
    });
  });
});

describe('pairing', () => {
  it('counts what is on one side alone, and does not compare other samples of the same name', () => {
    const before = [
      fakeDone({ id: 'same', secrets: ['no'] }),
      fakeDone({ id: 'task', task: 'Write to the bank.', secrets: ['no'] }),
      fakeDone({ id: 'annotation', secrets: [{ key: 'k', verdict: 'no' }] }),
      fakeDone({ id: 'gone' }),
    ];
    const after = [
      fakeDone({ id: 'same', secrets: ['yes'] }),
      fakeDone({ id: 'same', repeat: 1, secrets: ['yes'] }),
      fakeDone({ id: 'task', secrets: ['no'] }),
      fakeDone({ id: 'annotation', secrets: [{ key: 'other', verdict: 'no' }] }),
    ];
    expect(paired(before, after).pairing).toMatchObject({
      pairs: 1,
      baseline_only: 1,
      arm_only: 1,
      different: {
        count: 2,
        samples: [
          { sample_id: 'annotation', repeat: 0 },
          { sample_id: 'task', repeat: 0 },
        ],
      },
    });
  });

  it('takes facts in another order for the same sample', () => {
    const facts = [
      { id: 'f0', key: 'Name', text: 'Name: Ada' },
      { id: 'f1', key: 'City', text: 'City: Bern' },
    ];
    const one = { ...fakeDone({ id: 's' }), facts };
    const other = { ...fakeDone({ id: 's' }), facts: [...facts].reverse() };
    expect(paired([one], [other]).pairing.pairs).toBe(1);
  });

  it('refuses two records of one sample and repeat', () => {
    const record = fakeDone({ id: 's' });
    expect(() => paired([record, record], [])).toThrow(expect.objectContaining({ code: 'compare_twice' }));
    expect(() => paired([record], [record, record])).toThrow(expect.objectContaining({ code: 'compare_twice' }));
  });

  it('stands clusters in for samples where they hold several', () => {
    const arm = (leak: FakeOutcome) =>
      Array.from({ length: 12 }, (_, i) =>
        fakeDone({ id: `s${i}`, cluster: `c${i % 6}`, secrets: [i < 3 ? leak : 'no'] }),
      );
    const difference = defined(paired(arm('no'), arm('yes')).metrics['leakage.per_scenario']);
    expect(difference.interval.method).toBe('paired_cluster_bootstrap');
    expect(difference).toMatchObject({ judged: 12, clusters: 6, p: 0.25, p_method: 'mcnemar_exact' });
    // Two pairs a cluster that leak together count as one: 2 / 2^3 and not 2 / 2^6, which is given beside it.
    const both = (leak: FakeOutcome) =>
      Array.from({ length: 12 }, (_, i) =>
        fakeDone({ id: `s${i}`, cluster: `c${i % 6}`, secrets: [i % 6 < 3 ? leak : 'no'] }),
      );
    const together = defined(paired(both('no'), both('yes')).metrics['leakage.per_scenario']);
    expect(together).toMatchObject({ judged: 12, p: 2 / 2 ** 3, independent: { p: 2 / 2 ** 6 } });
  });
});

const outcome = fc.constantFrom<FakeOutcome>('yes', 'no', 'open', 'missing');
const side = (secrets: number, fields: number) =>
  fc.record({
    secrets: fc.array(outcome, { minLength: secrets, maxLength: secrets }),
    fields: fc.array(outcome, { minLength: fields, maxLength: fields }),
    score: fc.constantFrom<FakeScore>(0, 1, 2, 3, 'open', 'missing'),
    failed: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });
const pair = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), fc.constantFrom('c1', 'c2', 'c3', 'own'))
  .chain(([secrets, fields, cluster]) =>
    fc.record({ cluster: fc.constant(cluster), before: side(secrets, fields), after: side(secrets, fields) }),
  );
type Pair = typeof pair extends fc.Arbitrary<infer T> ? T : never;
const pairsOf = fc.array(pair, { minLength: 1, maxLength: 10 });

const recordsOf = (drawn: readonly Pair[], which: 'before' | 'after'): SampleRecord[] =>
  drawn.map((each, i) => {
    const common = { id: `s${i}`, cluster: each.cluster === 'own' ? `own${i}` : each.cluster };
    return each[which].failed ? fakeFailed(common) : fakeDone({ ...common, ...each[which] });
  });

const few = { numRuns: 60 };
const definedOf = (result: ReturnType<typeof paired>) =>
  comparedMetrics.flatMap((metric) => {
    const difference = result.metrics[metric];
    return difference.defined ? [difference] : [];
  });

describe('differences of any records', () => {
  it('hold the value in interval and bounds, and have p in [0, 1]', () => {
    fc.assert(
      fc.property(pairsOf, (drawn) => {
        for (const each of definedOf(paired(recordsOf(drawn, 'before'), recordsOf(drawn, 'after')))) {
          for (const { low, high } of [each.interval, each.bounds]) {
            expect(low).toBeLessThanOrEqual(each.value);
            expect(high).toBeGreaterThanOrEqual(each.value);
          }
          expect(each.p).toBeGreaterThan(0);
          expect(each.p).toBeLessThanOrEqual(1);
          expect(each.arm - each.baseline).toBeCloseTo(each.value, 12);
        }
      }),
      few,
    );
  });

  it('turn their sign with the arms, and nothing else', () => {
    fc.assert(
      fc.property(pairsOf, (drawn) => {
        const forth = paired(recordsOf(drawn, 'before'), recordsOf(drawn, 'after'));
        const back = paired(recordsOf(drawn, 'after'), recordsOf(drawn, 'before'));
        for (const metric of comparedMetrics) {
          const [a, b] = [forth.metrics[metric], back.metrics[metric]];
          expect(b.defined).toBe(a.defined);
          if (!a.defined || !b.defined) continue;
          expect(b.value).toBeCloseTo(-a.value, 12);
          expect(b.p).toBe(a.p);
          expect(b.interval.low).toBeCloseTo(-a.interval.high, 12);
          expect(b.interval.high).toBeCloseTo(-a.interval.low, 12);
          expect(b.bounds.low).toBeCloseTo(-a.bounds.high, 12);
          expect(b.bounds.high).toBeCloseTo(-a.bounds.low, 12);
          expect(b.open).toEqual({ baseline: a.open.arm, arm: a.open.baseline, both: a.open.both });
        }
        expect(back.flips.leakage).toEqual({
          arm_only: forth.flips.leakage.baseline_only,
          baseline_only: forth.flips.leakage.arm_only,
        });
      }),
      few,
    );
  });

  it('do not depend on the order of records, not even in the last bit', () => {
    fc.assert(
      fc.property(pairsOf, fc.integer(), (drawn, seed) => {
        const [before, after] = [recordsOf(drawn, 'before'), recordsOf(drawn, 'after')];
        const random = seededRandom(seed);
        const mixed = paired(shuffled(before, random), shuffled(after, random));
        expect(JSON.stringify(mixed)).toBe(JSON.stringify(paired(before, after)));
      }),
      few,
    );
  });

  it('have bounds that hold the difference of every way to settle what is open', () => {
    fc.assert(
      fc.property(pairsOf, fc.integer(), (drawn, seed) => {
        const random = seededRandom(seed);
        const settle = (each: FakeOutcome, open: boolean): FakeOutcome =>
          !open && (each === 'yes' || each === 'no') ? each : random() < 0.5 ? 'yes' : 'no';
        const settleSide = ({ secrets, fields, score, failed }: Pair['before']) => ({
          secrets: secrets.map((each) => settle(each, failed)),
          fields: fields.map((each) => settle(each, failed)),
          score: (failed || typeof score === 'string' ? (random() < 0.5 ? 3 : 0) : score) as FakeScore,
          failed: false,
        });
        // The items of a pair that failed on both sides are not known to the rates over items.
        const known = drawn.filter(({ before, after }) => !(before.failed && after.failed));
        fc.pre(known.length > 0);
        const open = paired(recordsOf(known, 'before'), recordsOf(known, 'after'));
        const settled = known.map((each) => ({
          cluster: each.cluster,
          before: settleSide(each.before),
          after: settleSide(each.after),
        }));
        const result = paired(recordsOf(settled, 'before'), recordsOf(settled, 'after'));
        for (const metric of comparedMetrics) {
          const [bounded, exact] = [open.metrics[metric], result.metrics[metric]];
          if (!bounded.defined || !exact.defined) continue;
          expect(exact.value).toBeGreaterThanOrEqual(bounded.bounds.low - 1e-12);
          expect(exact.value).toBeLessThanOrEqual(bounded.bounds.high + 1e-12);
        }
      }),
      few,
    );
  });
});

describe('compareRuns', () => {
  const leaks = (experiment: string, which: string) =>
    samples(
      experiment,
      [...which].map((mark) => ({ secrets: [mark === '1' ? 'yes' : 'no'] as const, fields: ['yes'] as const })),
    );

  it('holds every arm against no_memory, adjusts over the arms, and fits its schema', async () => {
    const dir = await runFolder({
      a: leaks('a', '11111000'),
      b: leaks('b', '11111111'),
      no_memory: leaks('no_memory', '00000000'),
    });
    const result = ciComparisonSchema.parse(await compareRuns({ runs: [run(dir)] }));
    expect(result).toMatchObject({
      kind: 'arms',
      baseline: { experiment: 'no_memory', chosen: 'no_memory' },
      not_compared: [],
    });
    expect(result.comparisons.map(({ arm }) => arm.experiment)).toEqual(['a', 'b']);
    const [a, b] = result.comparisons.map(({ metrics }) => defined(metrics['leakage.per_scenario'])) as [
      DefinedDifference,
      DefinedDifference,
    ];
    // a: 5 up, p = 2/32. b: 8 up, p = 2/256. Holm: 2 x 2/256, then the larger of that and 2/32.
    expect([a.p, b.p]).toEqual([2 / 32, 2 / 256]);
    expect([a.p_holm, b.p_holm]).toEqual([2 / 32, 4 / 256]);
  });

  it('takes the arm that is named, or else the first', async () => {
    const dir = await runFolder({ b: leaks('b', '01'), a: leaks('a', '10') });
    const first = await compareRuns({ runs: [run(dir)] });
    expect(first.baseline).toEqual({ experiment: 'a', chosen: 'first' });
    const named = await compareRuns({ runs: [run(dir)], baseline: 'b' });
    expect(named.baseline).toEqual({ experiment: 'b', chosen: 'named' });
    await expect(compareRuns({ runs: [run(dir)], baseline: 'c' })).rejects.toMatchObject({
      code: 'results_unknown_experiment',
      expected: 'a, b',
    });
  });

  it('holds arms of one name in two runs against each other, and says which it could not', async () => {
    const [old, fresh] = [
      await runFolder({ same: leaks('same', '110'), old: leaks('old', '1'), bare: [] }),
      await runFolder({ same: leaks('same', '011'), fresh: leaks('fresh', '1'), bare: leaks('bare', '1') }),
    ];
    const result = ciComparisonSchema.parse(await compareRuns({ runs: [run(old, 'old'), run(fresh, 'new')] }));
    expect(result.kind).toBe('runs');
    expect(result.comparisons).toHaveLength(1);
    expect(result.comparisons[0]?.flips.leakage).toEqual({
      arm_only: { count: 1, samples: [{ sample_id: 's2', repeat: 0 }] },
      baseline_only: { count: 1, samples: [{ sample_id: 's0', repeat: 0 }] },
    });
    expect(result.not_compared).toEqual([
      { run: 'old', experiment: 'old', reason: 'in the first run alone' },
      { run: 'old', experiment: 'bare', reason: 'no record yet' },
      { run: 'new', experiment: 'fresh', reason: 'in the second run alone' },
    ]);
  });

  it('refuses what cannot be compared', async () => {
    const dir = await runFolder({ a: leaks('a', '01') });
    const foreign = await runFolder({ a: [{ ...fakeDone({ id: 's' }), benchmark: 'other' }], b: leaks('b', '1') });
    await expect(compareRuns({ runs: [run(dir)] })).rejects.toMatchObject({ code: 'compare_nothing' });
    await expect(compareRuns({ runs: [run(dir), run(dir)], baseline: 'a' })).rejects.toMatchObject({
      code: 'compare_baseline_of_two',
    });
    await expect(compareRuns({ runs: [run(foreign)] })).rejects.toMatchObject({ code: 'compare_other_benchmark' });
    const other = await runFolder({ z: leaks('z', '01') });
    await expect(compareRuns({ runs: [run(dir), run(other)] })).rejects.toMatchObject({ code: 'compare_nothing' });
  });
});
