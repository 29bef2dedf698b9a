import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunStore } from '../contracts/store.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import { AppendLog } from './append-log.ts';
import { lockFolder } from './folder-lock.ts';
import { readLines } from './lines.ts';
import { foreignLine, lineHead, readRecords, recordLine } from './records.ts';

async function makeFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new HeamsError(
      code === 'EEXIST' || code === 'ENOTDIR' ? 'the output folder is a file' : `cannot make the output folder: ${messageOf(cause)}`,
      { code: 'output_unusable', where: { file: dir }, hint: 'choose another --output-dir', cause },
    );
  }
}

/** A run folder on disk, locked for this process until `close`. */
export class RunFolder implements RunStore {
  readonly dir: string;
  private readonly release: () => Promise<void>;
  private readonly logs = new Map<string, Promise<AppendLog>>();

  private constructor(dir: string, release: () => Promise<void>) {
    this.dir = dir;
    this.release = release;
  }

  /** Makes and claims the folder. Errors: it is a file, cannot be written, or is in use by another run. */
  static async open(dir: string, startedAt: string): Promise<RunFolder> {
    await makeFolder(dir);
    try {
      return new RunFolder(dir, await lockFolder(dir, startedAt));
    } catch (cause) {
      if (cause instanceof HeamsError) throw cause;
      throw new HeamsError(`cannot write to the output folder: ${messageOf(cause)}`, {
        code: 'output_unusable',
        where: { file: dir },
        hint: 'mend its permissions, make room, or choose another --output-dir',
        cause,
      });
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
    const opened = makeFolder(this.experimentDir(experiment)).then(() => AppendLog.open(this.runsFile(experiment)));
    this.logs.set(experiment, opened);
    return opened;
  }

  async doneKeys(experiment: string): Promise<Set<string>> {
    // Opening the log cuts a torn last line off, so that what is read here is what will be appended to.
    await this.log(experiment);
    const file = this.runsFile(experiment);
    const done = new Set<string>();
    for await (const batch of readLines(file)) {
      for (const { number, bytes } of batch) {
        const line = lineHead(bytes);
        if (!line || bytes.at(-1) !== 0x7d) {
          throw foreignLine(file, number, JSON.stringify(bytes.toString('utf8', 0, 60)));
        }
        if (line.status !== 'done') continue;
        if (done.has(line.key)) throw foreignLine(file, number, `a second record of job ${line.key}`);
        done.add(line.key);
      }
    }
    return done;
  }

  async append(record: SampleRecord): Promise<void> {
    await (await this.log(record.experiment)).append(recordLine(record));
  }

  async writeStatus(status: RunStatus): Promise<void> {
    await makeFolder(this.experimentDir(status.experiment));
    await writeFileWhole(
      join(this.experimentDir(status.experiment), 'run_status.json'),
      `${JSON.stringify(status, null, 2)}\n`,
    );
  }

  async *records(experiment: string): AsyncGenerator<SampleRecord> {
    const file = this.runsFile(experiment);
    if (!(await stat(file).catch(() => undefined))) return;
    yield* readRecords(file);
  }

  async close(): Promise<void> {
    const logs = await Promise.allSettled(this.logs.values());
    for (const log of logs) if (log.status === 'fulfilled') await log.value.close();
    await this.release();
  }
}
