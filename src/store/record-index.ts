import { saltOf } from '../contracts/call.ts';
import type { SampleRecord } from '../schema/record.ts';
import { readLines } from './lines.ts';
import { type Place, readPlace } from './place.ts';
import { parseRecord } from './records.ts';

/** Every record of a `runs.jsonl`, in order, each with its place. A job that was tried again comes more than once. */
export async function* placedRecords(file: string): AsyncGenerator<{ record: SampleRecord; place: Place }> {
  let offset = 0;
  for await (const batch of readLines(file)) {
    for (const { number, bytes } of batch) {
      const place = { line: number, offset, length: bytes.length };
      yield { record: parseRecord(bytes, file, number), place };
      offset += bytes.length + 1;
    }
  }
}

/**
 * The records of one `runs.jsonl` by sample and repeat, each read when it is asked for. Of a job that failed and was
 * tried again it is the last one. Holds some bytes a record.
 */
export class RecordIndex {
  private readonly places = new Map<string, Place>();
  private readonly file: string;

  private constructor(file: string) {
    this.file = file;
  }

  static async open(file: string): Promise<RecordIndex> {
    const index = new RecordIndex(file);
    for await (const { record, place } of placedRecords(file)) {
      index.places.set(saltOf(record.sample_id, record.repeat), place);
    }
    return index;
  }

  /** The record with this salt (`saltOf`); nothing where there is none. */
  async get(salt: string): Promise<SampleRecord | undefined> {
    const place = this.places.get(salt);
    return place && parseRecord(await readPlace(this.file, place), this.file, place.line);
  }
}
