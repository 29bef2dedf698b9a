import type { Json } from '../schema/json.ts';
import type { SampleRecord } from '../schema/record.ts';
import type { Document } from './document.ts';

/** Takes the records of one arm one at a time, in memory that grows by some bytes a record at most. */
export interface Accumulator<M> {
  add(record: SampleRecord): void;
  result(): M;
}

/** One arm in a terminal table: the keys are the columns, in order. */
export type SummaryRow = Readonly<Record<string, string | number>>;

export interface Rollup {
  document: Document;
  /** `metrics.json` */
  json: Json;
  /** `metrics.csv` */
  csv: string;
}

/** How a benchmark turns records into metrics, and metrics into reports. Pure: it touches no file. */
export interface Reporter<M = unknown> {
  /** The benchmark's name, as its records carry it. */
  readonly benchmark: string;
  /** Folder of its rollup, under `_rollup`. */
  readonly rollupFolder: string;
  accumulate(): Accumulator<M>;
  /** `config` is what the run wrote down of the arm beside its records; absent where that is not known. */
  report(metrics: M, config?: Json): Document;
  /** `empty` names the experiments that have no record yet: they are said, not left out. */
  rollup(arms: readonly M[], empty: readonly string[]): Rollup;
  /** The metrics with secrets struck out of what they quote; `recordAt` reads the record that a quotation is from. */
  masked(
    metrics: M,
    recordAt: (at: { sample_id: string; repeat: number }) => Promise<SampleRecord | undefined>,
  ): Promise<M>;
  summaryRows(arms: readonly M[]): SummaryRow[];
}
