import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { FinishedKeys, RunStore } from '../contracts/store.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { syncFolder, writeFileWhole } from '../lib/write-file.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import { AppendLog } from './append-log.ts';
import { lockFolder } from './folder-lock.ts';
import { readLines } from './lines.ts';
import { foreignLine, lineHead, RECORD_START, readRecords, recordLine, takeIn } from './records.ts';
import { STATUS_FILE } from './run-status.ts';
import { sweepTemporary } from './sweep.ts';

function makeFolderError(dir: string, cause: NodeJS.ErrnoException): HeamsError {
  const messages: Record<string, string> = {
    EEXIST: 'the output folder is a file',
    ENOTDIR: 'what should be a folder above the output folder is a file',
  };
  const message = messages[cause.code ?? ''] ?? `cannot make the output folder: ${cause.message}`;
  return new HeamsError(message, {
    code: 'output_unusable',
    where: { file: dir },
    hint: 'choose another --output-dir',
    cause,
  });
}

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
    const made = await mkdir(dir, { recursive: true });
    if (made === undefined) return;
    // A new folder survives a power cut once the folder above it is synced.
    const first = resolve(made);
    for (let at = resolve(dir); at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at));
  } catch (cause) {
    throw makeFolderError(dir, cause as NodeJS.ErrnoException);
  }
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
    const file = this.runsFile(experiment);
    const keys: FinishedKeys = { done: new Set(), failed: new Set() };
    for await (const batch of readLines(file)) {
      for (const { number, bytes } of batch) {
        const line = lineHead(bytes);
        if (!line || bytes.at(-1) !== 0x7d) {
          throw foreignLine(file, number, JSON.stringify(bytes.toString('utf8', 0, 60)));
        }
        takeIn(keys, line, file, number);
      }
    }
    return keys;
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
