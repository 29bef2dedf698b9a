import { HeamsError } from '../../lib/errors.ts';
import { hashOf } from '../../lib/hash.ts';
import type { CiGrade, GradedItem } from '../../schema/ci-grade.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { IdTable } from '../../stats/id-table.ts';
import { IntColumn } from '../../stats/int-column.ts';
import { helpfulOf, type Outcome, outcomeOf } from './metrics-observe.ts';

/**
 * What one record says, as far as a comparison looks. A sample without a grade is open, and so are its items, as many as
 * its record says there are to judge; none where it does not say.
 */
export interface SampleOutcome {
  graded: boolean;
  helpful: Outcome;
  secrets: readonly Outcome[];
  fields: readonly Outcome[];
  /** 32 bits of a hash of the task and the facts, in whatever order, and of the annotation; 0 without a grade. */
  input: number;
  annotation: number;
}

const outcomes = ['no', 'yes', 'open'] as const;

/** 32 bits of the hash, and never 0. */
const short = (value: unknown): number => Number.parseInt(hashOf(value).slice(0, 8), 16) || 1;

/**
 * Facts are written in an order drawn from the run's seed: another order is no other sample. Nor are other distractors:
 * what stands around a sample's own facts is a condition that it is tried under, as its memory is.
 */
function inputHash({ task, facts }: SampleRecord): number {
  const own = facts.filter(({ distractor }) => !distractor);
  return short([task, own.map(({ key, text }) => JSON.stringify([key, text])).sort()]);
}

const named = (items: readonly GradedItem[]) => items.map(({ key, value }) => [key, value]);

export function outcomeOfRecord(record: SampleRecord, grade: CiGrade | undefined): SampleOutcome {
  const input = inputHash(record);
  if (!grade) {
    const open = (items: string) => new Array<Outcome>(record.to_judge?.[items] ?? 0).fill('open');
    return { graded: false, helpful: 'open', secrets: open('secrets'), fields: open('fields'), input, annotation: 0 };
  }
  const judged = (items: readonly GradedItem[]) => items.map(({ verdicts }) => outcomeOf(verdicts[grade.primary]));
  return {
    graded: true,
    helpful: helpfulOf(grade),
    secrets: judged(grade.secrets),
    fields: judged(grade.fields),
    input,
    annotation: short([named(grade.secrets), named(grade.fields)]),
  };
}

/** Names a sample in one repeat. */
const pairKey = ({ sample_id, repeat }: SampleRecord): string => `${repeat}\u0000${sample_id}`;

/** The outcomes of one arm, found again by sample and repeat: some 40 bytes a record and one for each item. */
export class OutcomeTable {
  private readonly ids = new IdTable();
  private readonly clusters = new IdTable();
  private readonly cluster = new IntColumn();
  private readonly graded = new IntColumn();
  private readonly helpful = new IntColumn();
  private readonly input = new IntColumn();
  private readonly annotation = new IntColumn();
  private readonly starts = new IntColumn();
  private readonly secretCounts = new IntColumn();
  private readonly items = new IntColumn();
  size = 0;

  /** Throws `compare_twice` on a second record of one sample and repeat. */
  add(record: SampleRecord, outcome: SampleOutcome): void {
    if (this.ids.idOf(pairKey(record)) !== this.size) throw recordedTwice(record);
    this.cluster.push(this.clusters.idOf(record.cluster));
    this.graded.push(outcome.graded ? 1 : 0);
    this.helpful.push(outcomes.indexOf(outcome.helpful));
    this.input.push(outcome.input);
    this.annotation.push(outcome.annotation);
    this.starts.push(this.items.length);
    this.secretCounts.push(outcome.secrets.length);
    for (const item of [...outcome.secrets, ...outcome.fields]) this.items.push(outcomes.indexOf(item));
    this.size += 1;
  }

  /** The row of a sample and repeat; nothing where this arm has none. Not to be mixed with `add`. */
  rowOf(record: SampleRecord): number | undefined {
    const row = this.ids.idOf(pairKey(record));
    return row < this.size ? row : undefined;
  }

  clusterOf(row: number): number {
    return this.cluster.at(row);
  }

  get clusterCount(): number {
    return this.clusters.size;
  }

  /** Clusters in an order that depends on their names alone. */
  clustersInOrder(): Uint32Array {
    const ranks = this.clusters.ranks();
    const order = new Uint32Array(ranks.length);
    for (const [cluster, rank] of ranks.entries()) order[rank] = cluster;
    return order;
  }

  outcomeAt(row: number): SampleOutcome {
    const start = this.starts.at(row);
    const end = row + 1 < this.size ? this.starts.at(row + 1) : this.items.length;
    const middle = start + this.secretCounts.at(row);
    const between = (from: number, to: number): Outcome[] =>
      Array.from({ length: to - from }, (_, i) => outcomes[this.items.at(from + i)] as Outcome);
    return {
      graded: this.graded.at(row) === 1,
      helpful: outcomes[this.helpful.at(row)] as Outcome,
      secrets: between(start, middle),
      fields: between(middle, end),
      input: this.input.at(row),
      annotation: this.annotation.at(row),
    };
  }
}

export function recordedTwice({ sample_id, repeat, experiment }: SampleRecord): HeamsError {
  return new HeamsError('one arm has two records of one sample and repeat', {
    code: 'compare_twice',
    expected: 'one record for each sample and repeat of an experiment',
    found: `two of sample ${JSON.stringify(sample_id)}, repeat ${repeat}, in experiment ${JSON.stringify(experiment)}`,
    hint: 'records of two runs were put into one file: run them into folders of their own and compare those',
  });
}
