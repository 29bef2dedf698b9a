import { stat } from 'node:fs/promises';
import type { Accumulator, Reporter } from '../contracts/reporter.ts';
import type { Viewer } from '../contracts/viewer.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import type { SampleRecord } from '../schema/record.ts';
import type { ViewRow } from '../schema/view.ts';
import { readLines } from '../store/lines.ts';
import { type Place, readPlace } from '../store/place.ts';
import { type ExperimentFolder, parseRecord } from '../store/records.ts';

export interface BenchmarkView {
  viewer: Viewer;
  reporter: Reporter;
}

/** Gives out the numbers of rows; a job that is tried again keeps its row. */
export interface RowTable {
  add(row: Omit<ViewRow, 'row'>, arm: ArmIndex): ViewRow;
  replace(old: ViewRow, row: Omit<ViewRow, 'row'>): ViewRow;
}

interface Entry {
  row: ViewRow;
  place: Place;
}

export interface Unreadable {
  file: string;
  line: number;
  message: string;
}

/**
 * The records of one experiment by row: where each stands in its file, and the metrics over all. Reads only what is new
 * since the last look, so that a run under way can be watched; a file that became shorter is read anew.
 */
export class ArmIndex {
  readonly experiment: ExperimentFolder;
  readonly unreadable: Unreadable[] = [];
  private readonly views: ReadonlyMap<string, BenchmarkView>;
  private readonly table: RowTable;
  private readonly places = new Map<number, Place>();
  private readonly rowOfLine = new Map<number, number>();
  /** Jobs whose last word is a failure: a later one takes its row. */
  private readonly failed = new Map<string, Entry>();
  private accumulator: Accumulator<unknown> | undefined;
  private view: BenchmarkView | undefined;
  private after = { offset: 0, line: 0 };
  /** A job was tried again: the running sums hold its failure, and are made anew when they are asked for. */
  private stale = false;
  private cached: unknown;
  /** Of the first record: all of an arm have the same. */
  control = false;
  defence: string | undefined;
  /** False until the file has been read to its end once. */
  ready = false;

  constructor(experiment: ExperimentFolder, views: ReadonlyMap<string, BenchmarkView>, table: RowTable) {
    this.experiment = experiment;
    this.views = views;
    this.table = table;
  }

  get records(): number {
    return this.places.size;
  }

  /** Takes in what was appended; tells whether anything was. */
  async refresh(): Promise<boolean> {
    const { runsFile } = this.experiment;
    const { size } = await stat(runsFile);
    if (size < this.after.offset) {
      throw new HeamsError('the records became fewer while they were shown', {
        code: 'view_records_shrank',
        where: { file: runsFile },
        hint: 'start `heams view` again',
      });
    }
    if (size === this.after.offset) {
      this.ready = true;
      return false;
    }
    const before = this.after.line;
    for await (const batch of readLines(runsFile, undefined, 'drop', this.after)) {
      for (const { number, bytes } of batch) {
        this.take(bytes, { line: number, offset: this.after.offset, length: bytes.length });
        this.after = { offset: this.after.offset + bytes.length + 1, line: number };
      }
      // Requests are answered between two batches, however long the file is.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.ready = true;
    return this.after.line > before;
  }

  private take(bytes: Buffer, place: Place): void {
    let record: SampleRecord;
    try {
      record = parseRecord(bytes, this.experiment.runsFile, place.line);
    } catch (error) {
      this.unreadable.push({ file: this.experiment.runsFile, line: place.line, message: messageOf(error) });
      return;
    }
    const view = this.viewOf(record);
    if (!view) return;
    const content = view.viewer.row(record);
    const earlier = this.failed.get(record.key);
    const row = earlier ? this.table.replace(earlier.row, content) : this.table.add(content, this);
    if (earlier) {
      this.rowOfLine.delete(earlier.place.line);
      this.stale = true;
    }
    this.places.set(row.row, place);
    this.rowOfLine.set(place.line, row.row);
    if (record.status === 'failed') this.failed.set(record.key, { row, place });
    else this.failed.delete(record.key);
    if (!this.stale) this.accumulate(record);
    this.cached = undefined;
  }

  /** A record that does not fit the others is an error of the sums alone: they are made anew, and say so, when asked for. */
  private accumulate(record: SampleRecord): void {
    try {
      this.accumulator?.add(record);
    } catch {
      this.stale = true;
    }
  }

  private viewOf(record: SampleRecord): BenchmarkView | undefined {
    this.view ??= this.views.get(record.benchmark);
    if (!this.view) {
      const message = `records of the benchmark ${JSON.stringify(record.benchmark)} cannot be shown`;
      if (this.unreadable.length === 0) this.unreadable.push({ file: this.experiment.runsFile, line: 1, message });
      return undefined;
    }
    if (!this.accumulator) {
      this.accumulator = this.view.reporter.accumulate();
      this.control = this.view.viewer.isControl(record);
      this.defence = record.defence;
    }
    return this.view;
  }

  get viewer(): Viewer | undefined {
    return this.view?.viewer;
  }

  /** Metrics over all records; nothing while there is none, and while the file is read for the first time. */
  async metrics(): Promise<unknown> {
    if (this.places.size === 0 || !this.view || !this.ready) return undefined;
    if (this.stale) {
      const fresh = this.view.reporter.accumulate();
      for (const row of this.places.keys()) fresh.add(await this.record(row));
      this.accumulator = fresh;
      this.stale = false;
    }
    this.cached ??= this.accumulator?.result();
    return this.cached;
  }

  /** Notes what cannot be read; the same thing once. */
  report(problem: Unreadable): void {
    const known = this.unreadable.some(({ line, message }) => line === problem.line && message === problem.message);
    if (!known) this.unreadable.push(problem);
  }

  rowAt(line: number): number | undefined {
    return this.rowOfLine.get(line);
  }

  /** The record of a row, read from its place in the file. */
  async record(row: number): Promise<SampleRecord> {
    const place = this.places.get(row);
    if (!place) throw new Error(`row ${row} is not of ${this.experiment.name}`);
    const { runsFile } = this.experiment;
    return parseRecord(await readPlace(runsFile, place), runsFile, place.line);
  }
}
