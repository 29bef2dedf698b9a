import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FinishedKeys, RunStore } from '../contracts/store.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { folderError, makeFolders, probeFolder } from '../lib/make-folders.ts';
import { syncFolder, writeFileWhole } from '../lib/write-file.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import { AppendLog } from './append-log.ts';
import { lockFolder } from './folder-lock.ts';
import { RECORD_START, readFinished, readRecords, recordLine } from './records.ts';
import { STATUS_FILE } from './run-status.ts';
import { sweepTemporary } from './sweep.ts';

const use = { what: 'output folder', code: 'output_unusable', hint: 'choose another --output-dir' };

function cannotWrite(file: string, what: string, cause: unknown): HeamsError {
  return new HeamsError(`cannot write ${what}: ${messageOf(cause)}`, {
    code: 'output_unusable',
    where: { file },
    hint: 'mend its permissions, make room, or choose another --output-dir',
    cause,
  });
}

async function makeFolder(dir: string): Promise<void> {
  try {
    const made = await makeFolders(dir);
    // A new folder survives a power cut once the folder above it is synced.
    for (const folder of made.reverse()) await syncFolder(dirname(folder));
  } catch (cause) {
    throw folderError(dir, cause, use);
  }
}

/** Refuses a folder that no run could write to, and leaves everything as it was. */
export async function checkOutputFolder(dir: string): Promise<void> {
  await probeFolder(dir).catch((cause: unknown) => {
    throw folderError(dir, cause, use);
  });
}

/** A report that is being written beside the records takes less than this. */
const REPORT_MS = 60_000;

/** A run folder on disk, locked for this process until `close`. */
export class RunFolder implements RunStore {
  readonly dir: string;
  private readonly release: () => Promise<void>;
  private readonly startedAt: string;
  private readonly logs = new Map<string, Promise<AppendLog>>();

  private constructor(dir: string, release: () => Promise<void>, startedAt: string) {
    this.dir = dir;
    this.release = release;
    this.startedAt = startedAt;
  }

  /** Makes and claims the folder. Errors: it is a file, cannot be written, or is in use by another run. */
  static async open(dir: string, startedAt: string): Promise<RunFolder> {
    await makeFolder(dir);
    try {
      const folder = new RunFolder(dir, await lockFolder(dir, startedAt), startedAt);
      await sweepTemporary(dir, Date.parse(startedAt), 0).catch(async (error) => {
        await folder.close();
        throw error;
      });
      return folder;
    } catch (cause) {
      if (cause instanceof HeamsError) throw cause;
      if ((cause as NodeJS.ErrnoException).code === 'EROFS') throw folderError(dir, cause, use);
      throw cannotWrite(dir, 'to the output folder', cause);
    }
  }

  experimentDir(experiment: string): string {
    return join(this.dir, experiment);
  }

  private runsFile(experiment: string): string {
    return join(this.experimentDir(experiment), 'runs.jsonl');
  }

  private log(experiment: string): Promise<AppendLog> {
    const known = this.logs.get(experiment);
    if (known) return known;
    const opened = this.openLog(experiment);
    this.logs.set(experiment, opened);
    return opened;
  }

  private async openLog(experiment: string): Promise<AppendLog> {
    await makeFolder(this.experimentDir(experiment));
    const file = this.runsFile(experiment);
    try {
      await sweepTemporary(this.experimentDir(experiment), Date.parse(this.startedAt), REPORT_MS);
      return await AppendLog.open(file, RECORD_START);
    } catch (cause) {
      if (cause instanceof HeamsError) throw cause;
      throw cannotWrite(file, 'records', cause);
    }
  }

  async finished(experiment: string): Promise<FinishedKeys> {
    // Opening the log cuts a torn last line off, so that what is read here is what will be appended to.
    await this.log(experiment);
    return readFinished(this.runsFile(experiment));
  }

  async append(record: SampleRecord): Promise<void> {
    await (await this.log(record.experiment)).append(recordLine(record));
  }

  async writeStatus(status: RunStatus): Promise<void> {
    const dir = this.experimentDir(status.experiment);
    await makeFolder(dir);
    const file = join(dir, STATUS_FILE);
    try {
      await writeFileWhole(file, `${JSON.stringify(status, null, 2)}\n`);
    } catch (cause) {
      throw cannotWrite(file, 'the status of the run', cause);
    }
  }

  async *records(experiment: string): AsyncGenerator<SampleRecord> {
    const file = this.runsFile(experiment);
    try {
      await stat(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    yield* readRecords(file);
  }

  async close(): Promise<void> {
    try {
      const logs = await Promise.allSettled(this.logs.values());
      for (const log of logs) if (log.status === 'fulfilled') await log.value.close();
    } finally {
      await this.release();
    }
  }
}
