import { realpath } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import { HeamsError, messageOf } from '../lib/errors.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import type { ViewRow } from '../schema/view.ts';
import { type ExperimentFolder, listExperiments } from '../store/records.ts';
import { readRunStatus } from '../store/run-status.ts';
import { ArmIndex, type BenchmarkView, type RowTable, type Unreadable } from './arm-index.ts';

/** Whether a path is below a folder, both with their links followed. */
function isBelow(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(root, way) === path;
}

export interface IndexedArm {
  index: ArmIndex;
  status: RunStatus | undefined;
}

/**
 * Everything that the viewer knows of a results folder: a row for each record, and where its line stands. Nothing is
 * held whole but the rows; records are read when they are looked at. `refresh` takes in what a run under way appends.
 */
export class ResultsIndex implements RowTable {
  readonly dir: string;
  readonly rows: ViewRow[] = [];
  /** Goes up with whatever is new. */
  revision = 0;
  private readonly views: ReadonlyMap<string, BenchmarkView>;
  private readonly arms = new Map<string, IndexedArm>();
  private readonly armOfRow: ArmIndex[] = [];
  private readonly tags = new Map<string, ViewRow['tags']>();
  private readonly texts = new Map<string, string>();
  private readonly refused = new Map<string, Unreadable>();
  private refreshing: Promise<void> | undefined;

  private constructor(dir: string, views: ReadonlyMap<string, BenchmarkView>) {
    this.dir = dir;
    this.views = views;
  }

  /** @throws HeamsError where there is no folder, or no experiment in it. */
  static async open(dir: string, views: ReadonlyMap<string, BenchmarkView>): Promise<ResultsIndex> {
    await listExperiments(dir);
    return new ResultsIndex(await realpath(dir), views);
  }

  get title(): string {
    return basename(this.dir);
  }

  list(): IndexedArm[] {
    return [...this.arms.values()];
  }

  unreadable(): Unreadable[] {
    return [...this.refused.values(), ...this.list().flatMap(({ index }) => index.unreadable)];
  }

  /** Looks for new experiments, records and statuses. Calls while one is under way share it. */
  refresh(): Promise<void> {
    this.refreshing ??= this.look().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** The same, but for no longer than this: a large folder is read on while its first pages are looked at. */
  async refreshFor(ms: number): Promise<void> {
    const reading = this.refresh();
    // What goes wrong after the wait is told to whoever asks next.
    reading.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([reading, enough]).finally(() => clearTimeout(timer));
  }

  private async look(): Promise<void> {
    const experiments = await listExperiments(this.dir);
    for (const experiment of experiments) if (!this.arms.has(experiment.name)) await this.admit(experiment);
    for (const experiment of experiments) {
      const arm = this.arms.get(experiment.name);
      if (!arm) continue;
      if (await arm.index.refresh()) this.revision += 1;
      const status = await readRunStatus(experiment.dir, { code: 'view_bad_status', hint: '' }).catch(() => undefined);
      if (status?.updated_at !== arm.status?.updated_at) this.revision += 1;
      arm.status = status;
    }
  }

  /** An experiment that stands below the folder for real; a link that leads out of it is said and not followed. */
  private async admit(experiment: ExperimentFolder): Promise<void> {
    try {
      if (!isBelow(await realpath(experiment.runsFile), this.dir)) {
        throw new HeamsError('the records are a link that leads out of the results folder', { code: 'view_outside' });
      }
    } catch (error) {
      this.refused.set(experiment.name, { file: experiment.runsFile, line: 0, message: messageOf(error) });
      return;
    }
    this.arms.set(experiment.name, { index: new ArmIndex(experiment, this.views, this), status: undefined });
  }

  add(content: Omit<ViewRow, 'row'>, arm: ArmIndex): ViewRow {
    const row = { row: this.rows.length, ...this.interned(content) };
    this.rows.push(row);
    this.armOfRow.push(arm);
    return row;
  }

  replace(old: ViewRow, content: Omit<ViewRow, 'row'>): ViewRow {
    const row = { row: old.row, ...this.interned(content) };
    this.rows[old.row] = row;
    return row;
  }

  /** One object for tags that are alike, and texts of their own: a part of a string keeps the whole of it in memory. */
  private interned(content: Omit<ViewRow, 'row'>): Omit<ViewRow, 'row'> {
    const key = JSON.stringify(content.tags);
    const tags = this.tags.get(key) ?? content.tags;
    this.tags.set(key, tags);
    const excerpt = Buffer.from(content.excerpt).toString();
    return {
      ...content,
      tags,
      excerpt,
      experiment: this.texts.get(content.experiment) ?? this.kept(content.experiment),
    };
  }

  private kept(text: string): string {
    this.texts.set(text, text);
    return text;
  }

  /** By tag name, the values that occur, sorted. */
  tagValues(): Record<string, string[]> {
    const values = new Map<string, Set<string>>();
    for (const tags of this.tags.values()) {
      for (const [name, value] of Object.entries(tags)) values.set(name, (values.get(name) ?? new Set()).add(value));
    }
    return Object.fromEntries([...values].map(([name, own]) => [name, [...own].sort()]));
  }

  /** The row of a record; nothing where there is none. */
  rowOf({ experiment, sample_id, repeat }: Pick<ViewRow, 'experiment' | 'sample_id' | 'repeat'>): ViewRow | undefined {
    return this.rows.find(
      (row) => row.sample_id === sample_id && row.experiment === experiment && row.repeat === repeat,
    );
  }

  armOf(row: number): ArmIndex {
    const arm = this.armOfRow[row];
    if (arm) return arm;
    throw new HeamsError(`there is no row ${row}`, { code: 'view_no_row', expected: `0 to ${this.rows.length - 1}` });
  }

  record(row: number): Promise<SampleRecord> {
    return this.armOf(row).record(row);
  }
}
