import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeOutcome, fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { ciMetricsSchema, type Repeats } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { createCiMetrics } from './metrics.ts';

function metricsOf(records: readonly SampleRecord[]) {
  const metrics = createCiMetrics({ bootstrapSeed: 0 });
  for (const record of records) metrics.add(record);
  return ciMetricsSchema.parse(metrics.result());
}

/** Records of one sample, a repeat for each list of outcomes of its secrets; `failed` for one without a grade. */
function sample(id: string, repeats: readonly (readonly FakeOutcome[] | 'failed')[], cluster = id): SampleRecord[] {
  return repeats.map((secrets, repeat) =>
    secrets === 'failed'
      ? fakeFailed({ id, repeat, cluster })
      : fakeDone({ id, repeat, cluster, secrets, fields: ['yes'], score: secrets.includes('yes') ? 0 : 3 }),
  );
}

function repeatsOf(records: readonly SampleRecord[]): Repeats {
  const { repeats } = metricsOf(records);
  if (!repeats) throw new Error('these records have no repeats');
  return repeats;
}

/*
 *   sample  repeat 0   repeat 1   repeat 2    leaks   worst share
 *   a       yes no     no no      yes yes     y n y   2/2
 *   b       no         no         no          n n n   0
 *   c       no yes     no no      no no       y n n   1/2
 */
const table = [
  ...sample('a', [
    ['yes', 'no'],
    ['no', 'no'],
    ['yes', 'yes'],
  ]),
  ...sample('b', [['no'], ['no'], ['no']]),
  ...sample('c', [
    ['no', 'yes'],
    ['no', 'no'],
    ['no', 'no'],
  ]),
];

describe('repeats, worked out by hand', () => {
  const repeats = repeatsOf(table);
  const spread = (metric: string) => repeats.spread.find((one) => one.metric === metric);

  it('any of 3: a and c of three', () => {
    expect(repeats.n).toBe(3);
    expect(repeats.any_of_n).toMatchObject({ value: 2 / 3, numerator: 2, denominator: 3, unjudged: 0, failed: 0 });
  });

  it('worst of 3: the mean of 1, 0 and 1/2', () => {
    expect(repeats.worst_of_n).toMatchObject({ value: 0.5, numerator: 1.5, denominator: 3 });
  });

  it('a and c flip, in leakage and in helpfulness', () => {
    expect(repeats.flips.leakage).toMatchObject({ numerator: 2, denominator: 3 });
    expect(repeats.flips.helpfulness).toMatchObject({ numerator: 2, denominator: 3 });
  });

  it('cumulative: the means of (2/3, 0, 1/3), (1, 0, 2/3) and (1, 0, 1)', () => {
    // a has 2 hits of 3: 1 - C(1,1)/C(3,1) = 2/3, and two of three draws of 2 always hold one. c has 1: 1/3, 2/3, 1.
    expect(repeats.cumulative.map(({ k, rate }) => [k, rate.defined && rate.value])).toEqual([
      [1, expect.closeTo(1 / 3, 12)],
      [2, expect.closeTo(5 / 9, 12)],
      [3, expect.closeTo(2 / 3, 12)],
    ]);
  });

  it('leakage per scenario is 2/3, 0 and 1/3 in the repeats: mean 1/3, standard deviation 1/3', () => {
    expect(spread('leakage.per_scenario')).toEqual({
      metric: 'leakage.per_scenario',
      defined: true,
      repeats: 3,
      mean: expect.closeTo(1 / 3, 12),
      sd: expect.closeTo(1 / 3, 12),
      min: 0,
      max: 2 / 3,
      bounds: { low: expect.closeTo(1 / 3, 12), high: expect.closeTo(1 / 3, 12) },
    });
    expect(
      repeats.each.map(({ repeat, records, leakage }) => [repeat, records, leakage.per_scenario.numerator]),
    ).toEqual([
      [0, 3, 2],
      [1, 3, 0],
      [2, 3, 1],
    ]);
  });

  it('has a spread for every metric', () => {
    expect(repeats.spread.map(({ metric }) => metric)).toEqual([
      'leakage.overall',
      'leakage.per_scenario',
      'leakage.adjusted',
      'coverage.overall',
      'coverage.per_scenario',
      'coverage.adjusted',
      'helpfulness',
      'engaged.share',
      'engaged.leakage',
      'engaged.coverage',
    ]);
  });
});

describe('repeats that are not all judged', () => {
  // a leaks for certain; b is open in one repeat; c failed in one; d failed in all; e has but one record.
  const repeats = repeatsOf([
    ...sample('a', [['yes'], ['open']]),
    ...sample('b', [['no'], ['open']]),
    ...sample('c', [['no'], 'failed']),
    ...sample('d', ['failed', 'failed']),
    ...sample('e', [['no']]),
    ...sample('f', [['no'], ['no']]),
  ]);

  it('count a sample as soon as it is settled, and take the rest both ways', () => {
    // Settled: a leaks, f does not. Open: b, c, e; failed altogether: d.
    expect(repeats.any_of_n).toMatchObject({ numerator: 1, denominator: 2, unjudged: 3, failed: 1 });
    expect(repeats.any_of_n).toMatchObject({ bounds: { low: 1 / 6, high: 5 / 6 } });
    expect(repeats.incomplete).toBe(3);
  });

  it('a flip needs both verdicts; where one is open it is open', () => {
    expect(repeats.flips.leakage).toMatchObject({ numerator: 0, denominator: 1, unjudged: 4, failed: 1 });
    expect(repeats.flips.leakage).toMatchObject({ bounds: { low: 0, high: 5 / 6 } });
  });

  it('one try of two: what is open moves each sample by a half', () => {
    // Low: a 1/2, others 0. High: a 1, b, c, e 1/2, d 1, f 0. The point is f's alone: 0.
    expect(repeats.cumulative[0]?.rate).toMatchObject({ value: 0, denominator: 1 });
    const rate = repeats.cumulative[0]?.rate;
    expect(rate?.defined && rate.bounds).toEqual({ low: 0, high: expect.closeTo(3.5 / 6, 12) });
  });

  it('are absent where each sample ran once', () => {
    expect(metricsOf([...sample('a', [['yes']]), ...sample('b', [['no']])]).repeats).toBeUndefined();
  });

  it('have no spread where fewer than two repeats have a value', () => {
    const { spread } = repeatsOf(sample('a', [['no'], 'failed']));
    expect(spread[1]).toEqual({
      metric: 'leakage.per_scenario',
      defined: false,
      repeats: 1,
      reason: 'fewer than two repeats have a value',
    });
  });
});

describe('intervals with repeats', () => {
  it('treat the repeats of one sample as one cluster', () => {
    const once = metricsOf(Array.from({ length: 30 }, (_, i) => sample(`s${i}`, [[i < 9 ? 'yes' : 'no']])).flat());
    const five = metricsOf(
      Array.from({ length: 30 }, (_, i) => sample(`s${i}`, Array(5).fill([i < 9 ? 'yes' : 'no']))).flat(),
    );
    const width = ({ leakage }: typeof once) =>
      leakage.per_scenario.defined ? leakage.per_scenario.interval.high - leakage.per_scenario.interval.low : 0;
    expect(five.leakage.per_scenario).toMatchObject({ denominator: 150, interval: { method: 'cluster_wilson' } });
    expect(Math.abs(width(five) - width(once))).toBeLessThan(0.01);
  });
});

describe('properties of repeats', () => {
  const leak = fc.constantFrom<FakeOutcome>('yes', 'no');
  const anyOutcome = fc.constantFrom<FakeOutcome>('yes', 'no', 'open', 'missing');
  const drawn = (outcome: fc.Arbitrary<FakeOutcome>, repeats: number) =>
    fc.array(
      fc.record({
        cluster: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
        repeats: fc.array(fc.array(outcome, { minLength: 2, maxLength: 2 }), {
          minLength: repeats,
          maxLength: repeats,
        }),
      }),
      { minLength: 1, maxLength: 6 },
    );
  type Drawn = { cluster: string; repeats: FakeOutcome[][] }[];
  const recordsOf = (samples: Drawn, n: number) =>
    samples.flatMap(({ cluster, repeats }, i) => sample(`s${i}`, repeats.slice(0, n), cluster));
  const few = { numRuns: 40 };

  it('worst of n and any of n never fall with n, nor does the cumulative curve with k', () => {
    fc.assert(
      fc.property(drawn(leak, 5), (samples) => {
        const growing = [2, 3, 4, 5].map((n) => repeatsOf(recordsOf(samples, n)));
        const values = (of: (repeats: Repeats) => Repeats['any_of_n']) =>
          growing.map((repeats) => {
            const rate = of(repeats);
            return rate.defined ? rate.value : Number.NaN;
          });
        const curve = growing.at(-1)?.cumulative.map(({ rate }) => (rate.defined ? rate.value : Number.NaN)) ?? [];
        for (const series of [values((r) => r.worst_of_n), values((r) => r.any_of_n), curve]) {
          for (let i = 1; i < series.length; i++) {
            expect(series[i]).toBeGreaterThanOrEqual((series[i - 1] as number) - 1e-12);
          }
        }
      }),
      few,
    );
  });

  it('the curve never falls where verdicts are open either', () => {
    fc.assert(
      fc.property(drawn(anyOutcome, 4), (samples) => {
        const rates = repeatsOf(recordsOf(samples, 4)).cumulative.map(({ rate }) => rate);
        for (let k = 1; k < rates.length; k++) {
          const [before, after] = [rates[k - 1], rates[k]];
          if (!before?.defined || !after?.defined) continue;
          expect(after.value).toBeGreaterThanOrEqual(before.value - 1e-12);
        }
      }),
      few,
    );
  });

  it('one try of n is the mean leakage of the repeats, and n tries are any of n', () => {
    fc.assert(
      fc.property(drawn(leak, 3), (samples) => {
        const { leakage, repeats } = metricsOf(recordsOf(samples, 3));
        const [first, last] = [repeats?.cumulative[0]?.rate, repeats?.cumulative[2]?.rate];
        expect(first?.defined && first.value).toBeCloseTo(
          leakage.per_scenario.defined ? leakage.per_scenario.value : -1,
          12,
        );
        expect(last).toMatchObject({ numerator: repeats?.any_of_n.numerator, denominator: samples.length });
      }),
      few,
    );
  });
});
