import { seededRandom } from '../../lib/random.ts';
import type { CiRates, Repeats, Spread } from '../../schema/ci-metrics.ts';
import type { Bounds, Rate } from '../../schema/rate.ts';
import { anyOfK } from '../../stats/any-of-k.ts';
import { highestMean, lowestMean } from '../../stats/mean-bounds.ts';
import { clusteredRate, shareRate } from '../../stats/rate.ts';
import { type MetricRate, metricRates } from './metric-names.ts';
import type { Outcome } from './metrics-observe.ts';
import { ciRates, leakOutcome, type RateScope, sumByCluster } from './metrics-rates.ts';

/** The rows of one sample, all its repeats. */
type SampleRows = Uint32Array;

/** What a sample says, where what is unjudged, failed or not run yet goes one way and the other. */
interface Settled {
  low: number;
  high: number;
}

const noneSettled = 'no sample has all its repeats judged';

function samplesOf({ table, rows }: RateScope): SampleRows[] {
  const samples: SampleRows[] = [];
  let start = 0;
  for (let i = 1; i <= rows.length; i++) {
    if (i < rows.length && table.sameSample(rows[i] as number, rows[start] as number)) continue;
    samples.push(rows.subarray(start, i));
    start = i;
  }
  return samples;
}

interface OverSamples {
  scope: RateScope;
  samples: readonly SampleRows[];
  /** Nothing where a sample does not belong. */
  settle(sample: SampleRows, index: number): Settled | undefined;
  name: string;
}

/**
 * The mean over samples of a value that repeats give together. A sample counts as soon as its value is settled, however
 * its open repeats turn out; the bounds take in all samples, each as low and as high as it can be.
 */
function overSamples({ scope, samples, settle, name }: OverSamples): Rate {
  const { table } = scope;
  const settled = new Map<number, number>();
  let [low, high, all, unjudged, failed] = [0, 0, 0, 0, 0];
  let yesOrNo = true;
  for (const [index, sample] of samples.entries()) {
    const value = settle(sample, index);
    if (!value) continue;
    all += 1;
    low += value.low;
    high += value.high;
    if (value.high === value.low) {
      settled.set(sample[0] as number, value.low);
      yesOrNo &&= value.low === 0 || value.low === 1;
    } else if (sample.some((row) => table.isGraded(row))) unjudged += 1;
    else failed += 1;
  }
  const firsts = { ...scope, rows: Uint32Array.from(settled.keys()) };
  const sums = sumByCluster(firsts, (row) => [settled.get(row) ?? 0, 1]);
  const bounds = { low: low / all, high: high / all };
  const common = { sums, bounds, reason: noneSettled, unjudged, failed };
  if (!yesOrNo) return clusteredRate({ ...common, random: seededRandom(...scope.seed, name) });
  const yes = [...settled.values()].filter((value) => value === 1).length;
  return shareRate({ yes, no: settled.size - yes, unjudged, failed }, common);
}

/** How often a sample says yes and no in its n repeats; the rest is open. */
interface SampleTally {
  yes: number;
  no: number;
}

function tallyOf(scope: RateScope, sample: SampleRows, outcome: (row: number) => Outcome | undefined): SampleTally {
  let [yes, no] = [0, 0];
  for (const row of sample) {
    const said = scope.table.isGraded(row) ? outcome(row) : 'open';
    if (said === 'yes') yes += 1;
    else if (said === 'no') no += 1;
  }
  return { yes, no };
}

/** Whether repeats differ: settled once they do, or once all are judged and do not. */
function flip({ yes, no }: SampleTally, n: number): Settled {
  if (yes > 0 && no > 0) return { low: 1, high: 1 };
  return { low: 0, high: yes + no < n ? 1 : 0 };
}

/** The largest leaked share of a sample's secrets in a repeat. */
function worstShare({ table }: RateScope, sample: SampleRows, n: number): Settled | undefined {
  const { yes, no, open } = table.family('secret');
  let [low, high] = [0, sample.length < n ? 1 : 0];
  for (const row of sample) {
    if (!table.isGraded(row)) {
      high = 1;
      continue;
    }
    const all = yes.at(row) + no.at(row) + open.at(row);
    if (all === 0) return undefined;
    low = Math.max(low, yes.at(row) / all);
    high = Math.max(high, (yes.at(row) + open.at(row)) / all);
  }
  return { low, high };
}

/** Mean and spread of one metric over repeats. */
function spreadOf(metric: string, rates: readonly Rate[]): Spread {
  const defined = rates.filter((rate) => rate.defined);
  const repeats = defined.length;
  if (repeats < 2) return { metric, defined: false, repeats, reason: 'fewer than two repeats have a value' };
  const values = defined.map(({ value }) => value);
  const mean = values.reduce((sum, value) => sum + value, 0) / repeats;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const bounds = meanBounds(
    defined.map((rate) => rate.bounds),
    rates.filter((rate) => !rate.defined && rate.unjudged + rate.failed > 0).length,
  );
  return {
    metric,
    defined: true,
    repeats,
    mean: Math.min(max, Math.max(min, mean)),
    sd: Math.sqrt(squares / (repeats - 1)),
    min,
    max,
    bounds: { low: Math.min(bounds.low, mean), high: Math.max(bounds.high, mean) },
  };
}

/** Bounds of a mean over repeats; a repeat that has no value for want of verdicts might have had any, or none. */
function meanBounds(known: readonly Bounds[], open: number): Bounds {
  const numbers = (values: readonly number[]) => Float64Array.from(values);
  return {
    low: lowestMean(numbers(known.map(({ low }) => low)), new Float64Array(open)) ?? 0,
    high: highestMean(numbers(known.map(({ high }) => high)), new Float64Array(open).fill(1)) ?? 1,
  };
}

/** The rates of each repeat by its number. */
function eachRepeat({ table, rows, seed }: RateScope): Repeats['each'] {
  const byRepeat = new Map<number, number[]>();
  for (const row of rows) {
    const known = byRepeat.get(table.repeatOf(row));
    if (known) known.push(row);
    else byRepeat.set(table.repeatOf(row), [row]);
  }
  return [...byRepeat]
    .sort(([a], [b]) => a - b)
    .map(([repeat, own]) => ({
      repeat,
      records: own.length,
      ...ciRates({ table, rows: Uint32Array.from(own), seed: [...seed, 'repeat', repeat] }),
    }));
}

/** What repeats say beyond the pooled rates; nothing where no sample has more than one record. */
export function repeatsOf(scope: RateScope): Repeats | undefined {
  const samples = samplesOf(scope);
  const n = samples.reduce((most, sample) => Math.max(most, sample.length), 0);
  if (n < 2) return undefined;
  const secrets = scope.table.family('secret');
  // A sample that has grades, and in none of them a secret, has nothing to leak in any of its repeats.
  const canLeak = (sample: SampleRows) =>
    sample.some((row) => leakOutcome(secrets, row) !== undefined) || !sample.some((row) => scope.table.isGraded(row));
  const leaks = samples.map((sample) =>
    canLeak(sample) ? tallyOf(scope, sample, (row) => leakOutcome(secrets, row)) : undefined,
  );
  const helps = samples.map((sample) => tallyOf(scope, sample, (row) => scope.table.helpful(row)));
  const rate = (name: string, settle: OverSamples['settle']) =>
    overSamples({ scope, samples, settle, name: `repeats.${name}` });
  const anyOf = (k: number) =>
    rate(`any_of.${k}`, (_, i) => {
      const tally = leaks[i];
      if (!tally) return undefined;
      const { yes, no } = tally;
      return { low: anyOfK({ n, hits: yes, k }), high: anyOfK({ n, hits: n - no, k }) };
    });
  const each = eachRepeat(scope);
  const graded = (sample: SampleRows) => sample.filter((row) => scope.table.isGraded(row)).length;
  return {
    n,
    incomplete: samples.filter((sample) => graded(sample) < n).length,
    spread: spreads(each),
    any_of_n: anyOf(n),
    worst_of_n: rate('worst', (sample) => worstShare(scope, sample, n)),
    flips: {
      leakage: rate('flips.leakage', (_, i) => (leaks[i] ? flip(leaks[i], n) : undefined)),
      helpfulness: rate('flips.helpfulness', (_, i) => flip(helps[i] as SampleTally, n)),
    },
    cumulative: Array.from({ length: n }, (_, i) => ({ k: i + 1, rate: anyOf(i + 1) })),
    each,
  };
}

function spreads(each: readonly CiRates[]): Spread[] {
  const named = each.map((rates) => metricRates(rates));
  return (named[0] ?? []).map(({ key }, i) =>
    spreadOf(
      key,
      named.map((rates) => (rates[i] as MetricRate).rate),
    ),
  );
}
