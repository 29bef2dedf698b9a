import { type CiGrade, ciGradeSchema, type Side } from '../../schema/ci-grade.ts';
import { type CiMetrics, type ItemFlag, itemFlags } from '../../schema/ci-metrics.ts';
import type { DoneRecord, SampleRecord } from '../../schema/record.ts';
import { IdTable } from '../../stats/id-table.ts';
import { AgreementTally } from './metrics-agreement.ts';
import { ExposureTally } from './metrics-exposure.ts';
import { FailureTally, UnjudgedTally } from './metrics-failures.ts';
import { flagItems } from './metrics-flags.ts';
import { IdentityTally } from './metrics-identity.ts';
import { countGrade, helpfulOf } from './metrics-observe.ts';
import { ciRates, itemRates, leakageOfAnswered, type RateScope } from './metrics-rates.ts';
import { SpendingTally } from './metrics-spending.ts';
import { ObservationTable } from './metrics-table.ts';
import { WorstTally } from './metrics-worst.ts';

export interface CiMetricsOptions {
  /** Seed of every resampling: the same records and seed give the same metrics, whatever the order of the records. */
  bootstrapSeed: string | number;
}

/** Takes the records of one arm, one at a time, and works out its metrics. Holds some 60 bytes a record. */
export interface CiMetricsAccumulator {
  /** Throws `records_mixed` when a record is of another arm than those before it. */
  add(record: SampleRecord): void;
  /** Throws `results_no_records` when there was none. */
  result(): CiMetrics;
}

const noFlags = () => ({ any: 0, on_both_sides: 0, short: 0, in_task: 0 });

function readGrade({ grade }: DoneRecord): { ok: true; grade: CiGrade } | { ok: false; problem: string } {
  const parsed = ciGradeSchema.safeParse(grade);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { ok: false, problem: `${issue?.path.join('.') || 'grade'}: ${issue?.message ?? 'another shape'}` };
  }
  const { judges, primary } = parsed.data;
  if (judges.some(({ id }) => id === primary)) return { ok: true, grade: parsed.data };
  return { ok: false, problem: `primary: no judge has the id ${JSON.stringify(primary)}` };
}

class Accumulator implements CiMetricsAccumulator {
  private readonly seed: string | number;
  private readonly table = new ObservationTable();
  private readonly samples = new IdTable();
  private readonly identity = new IdentityTally();
  private readonly failures = new FailureTally();
  private readonly unjudged = new UnjudgedTally();
  private readonly exposure = new ExposureTally();
  private readonly agreement = new AgreementTally();
  private readonly spending = new SpendingTally();
  private readonly worst = new WorstTally();
  private readonly counts = { records: 0, done: 0, failed: 0, unreadable: 0, empty_messages: 0, secrets: 0, fields: 0 };
  private readonly flagged = { secrets: noFlags(), fields: noFlags() };
  private readonly scores: CiMetrics['scores'] = { poor: 0, unsatisfactory: 0, good: 0, excellent: 0, unjudged: 0 };

  constructor(seed: string | number) {
    this.seed = seed;
  }

  add(record: SampleRecord): void {
    this.identity.addRecord(record);
    this.counts.records += 1;
    this.samples.idOf(record.sample_id);
    this.spending.add(record);
    if (record.status === 'failed') {
      this.counts.failed += 1;
      this.failures.addFailed(record);
      this.table.add(record, 'failed');
      return;
    }
    this.counts.done += 1;
    const read = readGrade(record);
    if (read.ok) {
      this.addGraded(record, read.grade);
      return;
    }
    this.counts.unreadable += 1;
    this.failures.addUnreadable(record, read.problem);
    this.table.add(record, 'unreadable');
  }

  private addGraded(record: DoneRecord, grade: CiGrade): void {
    const emptyMessage = (record.reply?.message ?? '').trim() === '';
    const flags: Record<Side, ItemFlag[][]> = {
      secret: flagItems(grade.secrets, grade.fields, record.task),
      field: flagItems(grade.fields, grade.secrets, record.task),
    };
    this.table.add(record, helpfulOf(grade), countGrade(grade, flags), emptyMessage);
    if (emptyMessage) this.counts.empty_messages += 1;
    this.counts.secrets += grade.secrets.length;
    this.counts.fields += grade.fields.length;
    this.addFlags('secrets', flags.secret);
    this.addFlags('fields', flags.field);
    this.addScore(grade);
    this.identity.addGrade(grade);
    this.unjudged.add(grade);
    this.exposure.add(record, grade);
    this.agreement.add(grade);
    this.worst.add(record, grade);
  }

  private addFlags(side: 'secrets' | 'fields', flags: readonly ItemFlag[][]): void {
    const counts = this.flagged[side];
    for (const own of flags) {
      if (own.length > 0) counts.any += 1;
      for (const flag of itemFlags) if (own.includes(flag)) counts[flag] += 1;
    }
  }

  private addScore(grade: CiGrade): void {
    const verdict = grade.helpfulness[grade.primary];
    const names = ['poor', 'unsatisfactory', 'good', 'excellent'] as const;
    this.scores[verdict?.status === 'judged' ? names[verdict.value] : 'unjudged'] += 1;
  }

  result(): CiMetrics {
    const identity = this.identity.result();
    const { table } = this;
    const rows = table.rowsInOrder();
    const scope: RateScope = { table, rows, seed: [this.seed] };
    return {
      version: 1,
      ...identity,
      counts: { ...this.counts, samples: this.samples.size, clusters: table.clusterCount },
      ...this.failures.result(),
      unjudged: this.unjudged.result(),
      ...ciRates(scope),
      unflagged: { ...itemRates(scope, 'unflagged'), flagged: structuredClone(this.flagged) },
      leakage_of_answered: leakageOfAnswered(scope),
      scores: { ...this.scores },
      breakdowns: table.groups(rows).map(({ tag, values }) => ({
        tag,
        values: values.map((group) => ({
          value: group.value,
          records: group.rows.length,
          ...ciRates({ table, rows: group.rows, seed: [this.seed, tag, group.value] }),
        })),
      })),
      exposure: this.exposure.result(scope),
      string_judges: this.agreement.result(scope),
      ...this.spending.result(),
      worst: this.worst.result(),
    };
  }
}

export function createCiMetrics(options: CiMetricsOptions): CiMetricsAccumulator {
  return new Accumulator(options.bootstrapSeed);
}
