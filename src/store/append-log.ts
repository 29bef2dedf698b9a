import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { syncFolder } from '../lib/write-file.ts';

interface Waiting {
  line: string;
  resolve(): void;
  reject(error: unknown): void;
}

const TAIL = 1 << 16;

/** Length of a file up to and with its last newline. */
async function completeLength(handle: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; end -= TAIL) {
    const start = Math.max(0, end - TAIL);
    const tail = Buffer.alloc(end - start);
    await handle.read(tail, 0, tail.length, start);
    const newline = tail.lastIndexOf(0x0a);
    if (newline >= 0) return start + newline + 1;
  }
  return 0;
}

interface Tail {
  file: string;
  complete: number;
  size: number;
  start: string;
}

/** Throws unless what stands after the last newline is the beginning of a line of ours. */
async function checkTorn(handle: FileHandle, { file, complete, size, start }: Tail): Promise<void> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(start.length), 0, start.length, complete);
  const found = buffer.toString('latin1', 0, bytesRead);
  // A power cut can leave zeros where a line was to be.
  if (start.startsWith(found.replace(/\0+$/, ''))) return;
  throw new HeamsError('the last line of this file was not written by HEAMS', {
    code: 'records_foreign_line',
    where: { file },
    expected: `a line that begins with ${start}`,
    found: `${size - complete} bytes that begin with ${JSON.stringify(found)}`,
    hint: 'choose another --output-dir, or remove what does not belong there',
  });
}

/**
 * An append-only file of lines. An append resolves once its line would survive a power cut; lines that arrive during
 * a write share the next one (group commit), so that durability does not cost one sync a line.
 *
 * After a failed write the file may end in a torn line, so the log takes nothing more; opening it again cuts the torn
 * line off.
 */
export class AppendLog {
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private broken: HeamsError | undefined;
  readonly file: string;
  private readonly handle: FileHandle;

  private constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.handle = handle;
  }

  /**
   * Opens a log and cuts a torn last line off. `start` is what each of its lines begins with: a last line that begins
   * otherwise is somebody else's, and is refused instead.
   */
  static async open(file: string, start = ''): Promise<AppendLog> {
    const handle = await open(file, 'a+');
    try {
      const { size } = await handle.stat();
      const complete = await completeLength(handle, size);
      if (complete < size) {
        await checkTorn(handle, { file, complete, size, start });
        await handle.truncate(complete);
      }
      await handle.sync();
      await syncFolder(dirname(file));
    } catch (error) {
      await handle.close();
      throw error;
    }
    return new AppendLog(file, handle);
  }

  append(line: string): Promise<void> {
    if (this.broken) return Promise.reject(this.broken);
    const done = new Promise<void>((resolve, reject) => this.waiting.push({ line, resolve, reject }));
    this.writing ??= this.drain();
    return done;
  }

  private async drain(): Promise<void> {
    // Lets every append of this turn into the first batch.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.handle.appendFile(batch.map(({ line }) => line).join(''));
        await this.handle.datasync();
        for (const { resolve } of batch) resolve();
      } catch (cause) {
        this.broken = new HeamsError(`cannot write a record: ${messageOf(cause)}`, {
          code: 'records_write_failed',
          where: { file: this.file },
          hint: 'make room or mend the permissions, then run the same command again: what is done is kept',
          cause,
        });
        for (const { reject } of [...batch, ...this.waiting]) reject(this.broken);
        this.waiting = [];
      }
    }
    this.writing = undefined;
  }

  async close(): Promise<void> {
    await this.writing;
    await this.handle.close();
  }
}
