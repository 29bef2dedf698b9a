import { addCounts } from '../../lib/add-counts.ts';
import type { CiGrade } from '../../schema/ci-grade.ts';
import { type CiMetrics, type FlagCounts, type ItemFlag, itemFlags } from '../../schema/ci-metrics.ts';
import type { DoneRecord, SampleRecord } from '../../schema/record.ts';
import { type Engagement, engagementOf } from './engagement.ts';
import { AgreementTally } from './metrics-agreement.ts';
import { ExposureTally } from './metrics-exposure.ts';
import { FailureTally, UnjudgedTally } from './metrics-failures.ts';
import { flagsOfRecord } from './metrics-flags.ts';
import { IdentityTally } from './metrics-identity.ts';
import { PanelTally } from './metrics-judges.ts';
import { countGrade, helpfulOf } from './metrics-observe.ts';
import { PoolTally } from './metrics-pool.ts';
import { ciRates, itemRates, type RateScope } from './metrics-rates.ts';
import { RecallTally } from './metrics-recall.ts';
import { repeatsOf } from './metrics-repeats.ts';
import { SpendingTally } from './metrics-spending.ts';
import { ObservationTable } from './metrics-table.ts';
import { unsentRates } from './metrics-unsent.ts';
import { WorstTally } from './metrics-worst.ts';
import { readGrade } from './read-grade.ts';

export interface CiMetricsOptions {
  /** Seed of every resampling: the same records and seed give the same metrics, whatever the order of the records. */
  bootstrapSeed: string | number;
}

/** Takes the records of one arm, one at a time, and works out its metrics. Holds some 80 bytes a record. */
export interface CiMetricsAccumulator {
  /** Throws `records_mixed` when a record is of another arm than those before it. */
  add(record: SampleRecord): void;
  /** Takes in what another one has seen, as if its records had been added here. Throws `records_mixed` as `add` does. */
  merge(other: CiMetricsAccumulator): void;
  /** Throws `results_no_records` when there was none. */
  result(): CiMetrics;
}

const noFlags = (): FlagCounts => ({
  any: 0,
  by_flag: Object.fromEntries(itemFlags.map((flag) => [flag, 0])) as FlagCounts['by_flag'],
});

class Accumulator implements CiMetricsAccumulator {
  private readonly seed: string | number;
  private readonly table = new ObservationTable();
  private readonly identity = new IdentityTally();
  private readonly failures = new FailureTally();
  private readonly unjudged = new UnjudgedTally();
  private readonly exposure = new ExposureTally();
  private readonly agreement = new AgreementTally();
  private readonly panel = new PanelTally();
  private readonly recall = new RecallTally();
  private readonly pool = new PoolTally();
  private readonly spending = new SpendingTally();
  private readonly worst = new WorstTally();
  private readonly counts = {
    records: 0,
    done: 0,
    failed: 0,
    unreadable: 0,
    empty_messages: 0,
    refusals: 0,
    secrets: 0,
    fields: 0,
  };
  private readonly flagged = { secrets: noFlags(), fields: noFlags() };
  private readonly scores: CiMetrics['scores'] = { poor: 0, unsatisfactory: 0, good: 0, excellent: 0, unjudged: 0 };

  constructor(seed: string | number) {
    this.seed = seed;
  }

  add(record: SampleRecord): void {
    this.identity.addRecord(record);
    this.counts.records += 1;
    this.pool.add(record);
    this.spending.add(record);
    if (record.status === 'failed') {
      this.counts.failed += 1;
      this.failures.addFailed(record);
      this.table.add(record, { state: 'failed' });
      return;
    }
    this.counts.done += 1;
    const engagement = engagementOf({
      message: record.reply?.message ?? '',
      finishReason: record.reply?.finish_reason,
    });
    if (engagement === 'empty') this.counts.empty_messages += 1;
    if (engagement === 'refusal') this.counts.refusals += 1;
    const read = readGrade(record.grade);
    if (read.ok) {
      this.addGraded(record, read.grade, engagement);
      return;
    }
    this.counts.unreadable += 1;
    this.failures.addUnreadable(record, read.problem);
    this.table.add(record, { state: 'unreadable', engagement });
  }

  private addGraded(record: DoneRecord, grade: CiGrade, engagement: Engagement): void {
    const flags = flagsOfRecord(record, grade);
    this.table.add(record, { state: helpfulOf(grade), engagement, counts: countGrade(record, grade, flags) });
    this.counts.secrets += grade.secrets.length;
    this.counts.fields += grade.fields.length;
    this.addFlags('secrets', flags.secret);
    this.addFlags('fields', flags.field);
    this.addScore(grade);
    this.identity.addGrade(grade);
    this.unjudged.add(grade);
    this.exposure.add(record, grade);
    this.agreement.add(grade);
    this.panel.add(record, grade);
    this.recall.add(record);
    this.worst.add(record, grade);
  }

  private addFlags(side: 'secrets' | 'fields', flags: readonly ItemFlag[][]): void {
    const counts = this.flagged[side];
    for (const own of flags) {
      if (own.length > 0) counts.any += 1;
      for (const flag of own) counts.by_flag[flag] += 1;
    }
  }

  private addScore(grade: CiGrade): void {
    const verdict = grade.helpfulness[grade.primary];
    const names = ['poor', 'unsatisfactory', 'good', 'excellent'] as const;
    this.scores[verdict?.status === 'judged' ? names[verdict.value] : 'unjudged'] += 1;
  }

  merge(other: CiMetricsAccumulator): void {
    if (!(other instanceof Accumulator)) throw new TypeError('only what createCiMetrics made can be merged');
    this.identity.merge(other.identity);
    this.table.merge(other.table);
    this.failures.merge(other.failures);
    this.unjudged.merge(other.unjudged);
    this.exposure.merge(other.exposure);
    this.agreement.merge(other.agreement);
    this.panel.merge(other.panel);
    this.recall.merge(other.recall);
    this.pool.merge(other.pool);
    this.spending.merge(other.spending);
    this.worst.merge(other.worst);
    addCounts(this.counts, other.counts);
    addCounts(this.scores, other.scores);
    for (const side of ['secrets', 'fields'] as const) {
      this.flagged[side].any += other.flagged[side].any;
      addCounts(this.flagged[side].by_flag, other.flagged[side].by_flag);
    }
  }

  result(): CiMetrics {
    const identity = this.identity.result();
    const { table } = this;
    const panel = this.panel.result(this.seed);
    const rows = table.rowsInOrder();
    const scope: RateScope = { table, rows, seed: [this.seed] };
    const repeats = repeatsOf(scope);
    const unsent = unsentRates(scope);
    return {
      version: 2,
      ...identity,
      counts: { ...this.counts, samples: table.sampleCount, clusters: table.clusterCount },
      ...this.failures.result(),
      unjudged: this.unjudged.result(),
      ...ciRates(scope),
      unflagged: { ...itemRates(scope, 'unflagged'), flagged: structuredClone(this.flagged) },
      scores: { ...this.scores },
      breakdowns: table.groups(rows).map(({ tag, values }) => ({
        tag,
        values: values.map((group) => ({
          value: group.value,
          records: group.rows.length,
          ...ciRates({ table, rows: group.rows, seed: [this.seed, tag, group.value] }),
        })),
      })),
      ...(repeats ? { repeats } : {}),
      exposure: this.exposure.result(scope),
      ...(unsent ? { unsent } : {}),
      recall_quality: this.recall.result(scope),
      pool: this.pool.result(),
      string_judges: this.agreement.result(scope),
      ...(panel ? { panel } : {}),
      ...this.spending.result(),
      worst: this.worst.result(),
    };
  }
}

export function createCiMetrics(options: CiMetricsOptions): CiMetricsAccumulator {
  return new Accumulator(options.bootstrapSeed);
}
