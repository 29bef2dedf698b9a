import type { RunStore } from '../contracts/store.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import { parseRecord, recordLine } from './records.ts';

/** The run folder's twin in memory: for tests, and for library users who keep records themselves. */
export class MemoryStore implements RunStore {
  private readonly lines = new Map<string, string[]>();
  readonly statuses = new Map<string, RunStatus>();

  async doneKeys(experiment: string): Promise<Set<string>> {
    const done = new Set<string>();
    for await (const record of this.records(experiment)) if (record.status === 'done') done.add(record.key);
    return done;
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
    const lines = this.lines.get(experiment) ?? [];
    for (const [i, line] of lines.entries()) {
      const record = parseRecord(Buffer.from(line), `memory:${experiment}`, i + 1);
      // Like a file: a retried job moves to where its last attempt was written.
      last.delete(record.key);
      last.set(record.key, record);
    }
    yield* last.values();
  }

  async close(): Promise<void> {}
}
