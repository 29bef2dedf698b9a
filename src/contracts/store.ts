import type { RunStatus, SampleRecord } from '../schema/record.ts';

export interface FinishedKeys {
  done: Set<string>;
  failed: Set<string>;
}

/** Where records go. The run folder on disk and its in-memory twin pass the same suite. */
export interface RunStore {
  /** Keys of the jobs that are done and need not run again, and of those whose last attempt failed. */
  finished(experiment: string): Promise<FinishedKeys>;
  /** Resolves once the record would survive a power cut. */
  append(record: SampleRecord): Promise<void>;
  /** Replaces the experiment's status whole. */
  writeStatus(status: RunStatus): Promise<void>;
  /** Every record once: where a job failed and was tried again, its last record. */
  records(experiment: string): AsyncIterable<SampleRecord>;
  close(): Promise<void>;
}
