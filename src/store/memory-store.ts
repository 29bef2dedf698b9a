import type { FinishedKeys, RunStore } from '../contracts/store.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import { parseRecord, recordLine, takeIn } from './records.ts';

/** The run folder's twin in memory: for tests, and for library users who keep records themselves. */
export class MemoryStore implements RunStore {
  private readonly lines = new Map<string, string[]>();
  readonly statuses = new Map<string, RunStatus>();

  async finished(experiment: string): Promise<FinishedKeys> {
    const keys: FinishedKeys = { done: new Set(), failed: new Set() };
    for (const [record, line] of this.parsed(experiment)) takeIn(keys, record, `memory:${experiment}`, line);
    return keys;
  }

  /** What was appended, in order, each with its line number. */
  private *parsed(experiment: string): Generator<[SampleRecord, number]> {
    for (const [i, line] of (this.lines.get(experiment) ?? []).entries()) {
      yield [parseRecord(Buffer.from(line), `memory:${experiment}`, i + 1), i + 1];
    }
  }

  async append(record: SampleRecord): Promise<void> {
    const lines = this.lines.get(record.experiment) ?? [];
    lines.push(recordLine(record));
    this.lines.set(record.experiment, lines);
  }

  async writeStatus(status: RunStatus): Promise<void> {
    this.statuses.set(status.experiment, structuredClone(status));
  }

  async *records(experiment: string): AsyncGenerator<SampleRecord> {
    const last = new Map<string, SampleRecord>();
    for (const [record] of this.parsed(experiment)) {
      // Like a file: a retried job moves to where its last attempt was written.
      last.delete(record.key);
      last.set(record.key, record);
    }
    yield* last.values();
  }

  async close(): Promise<void> {}
}
