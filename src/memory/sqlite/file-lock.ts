import { mkdir, open, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HeamsError } from '../../lib/errors.ts';
import { lockFolder } from '../../store/folder-lock.ts';

/** "HEAM" in ASCII: in the header of every file that this backend makes. */
export const APPLICATION_ID = 0x4845414d;
/** Of the tables in the file. */
export const FORMAT = 1;

const HEADER = 100;
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** The file's one name, whatever links lead to it; its folder is made where it is not there. */
export async function realFile(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  try {
    return await realpath(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return join(await realpath(dirname(file)), basename(file));
  }
}

/** Refuses a file that something else made: what is in it is not HEAMS's to delete. */
export async function refuseForeign(file: string): Promise<void> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!handle) return;
  const header = Buffer.alloc(HEADER);
  try {
    const { bytesRead } = await handle.read(header, 0, HEADER, 0);
    if (bytesRead === 0) return;
  } finally {
    await handle.close();
  }
  const format = header.readUInt32BE(60);
  if (header.readUInt32BE(68) === APPLICATION_ID && format === FORMAT) return;
  const own = header.readUInt32BE(68) === APPLICATION_ID;
  throw new HeamsError('this file is not a memory of this version of HEAMS', {
    code: 'memory_file_foreign',
    where: { file },
    expected: `no file yet, or one that HEAMS made (format ${FORMAT})`,
    found: own ? `format ${format}` : 'a file of something else',
    hint: 'name another `file`',
  });
}

function inUse(file: string, found: string | undefined): HeamsError {
  return new HeamsError('this memory file is in use by another process', {
    code: 'memory_file_in_use',
    where: { file },
    ...(found === undefined ? {} : { found }),
    hint: `wait for it, name another \`file\`, or, if that process is gone, remove ${file}.heams`,
  });
}

const ATTEMPTS = 3;

/**
 * Claims a file for this process. SQLite in WebAssembly has no locks of the operating system: it makes a folder
 * `<file>.lock`, which a killed process leaves behind, and a second process only learns that the file is locked. So the
 * file has an owner, named in `<file>.heams`, and a dead owner's locks are removed. Returns what gives it back.
 */
export async function ownFile(file: string, startedAt: string): Promise<() => Promise<void>> {
  const folder = `${file}.heams`;
  for (let attempt = 1; ; attempt++) {
    await mkdir(folder, { recursive: true });
    try {
      const release = await lockFolder(folder, startedAt);
      await removeIfThere(`${file}.lock`);
      return async () => {
        await release();
        await removeIfThere(folder);
      };
    } catch (error) {
      if (error instanceof HeamsError && error.code === 'output_in_use') throw inUse(file, error.found);
      // Whoever had it gave it back and took the folder away in between.
      if (codeOf(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** A folder that is gone, or that another process is using by now, is as good. */
async function removeIfThere(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  }
}
