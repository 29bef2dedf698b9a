import { randomBytes } from 'node:crypto';
import { mkdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HeamsError } from './errors.ts';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Makes a folder and those above it, one level at a time, and gives those that it made, the topmost first. The recursive
 * `mkdir` of Node never ends where a folder is there and takes no new one, as `/proc`.
 */
export async function makeFolders(dir: string): Promise<string[]> {
  const missing: string[] = [];
  let at = resolve(dir);
  while (await isAbsent(at)) {
    missing.unshift(at);
    at = dirname(at);
  }
  // What is there already may be a file: the system says so.
  if (missing.length === 0) await made(at);
  const fresh: string[] = [];
  for (const folder of missing) if (await made(folder)) fresh.push(folder);
  return fresh;
}

async function isAbsent(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch (error) {
    if (isMissing(error)) return true;
    throw error;
  }
}

/** Whether it was this call that made the folder. */
async function made(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((await stat(folder).catch(() => undefined))?.isDirectory()) return false;
    throw error;
  }
}

/** Finds out whether files can be written into a folder, and leaves everything as it was. */
export async function probeFolder(dir: string): Promise<void> {
  const fresh = await makeFolders(dir);
  const probe = join(dir, `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(probe, '', { flag: 'wx' });
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
    // Another process may have put something into it meanwhile: then it stays.
    for (const folder of fresh.reverse()) await rmdir(folder).catch(() => undefined);
  }
}

/** Which folder of the user's it is, and what it is called in errors. */
export interface FolderUse {
  /** "output folder" */
  what: string;
  code: string;
  hint: string;
}

/** What keeps a folder from being used, in a user's words. */
export function folderError(dir: string, thrown: unknown, { what, code, hint }: FolderUse): HeamsError {
  const cause = thrown as NodeJS.ErrnoException;
  const messages: Record<string, string> = {
    EEXIST: `the ${what} is a file`,
    ENOTDIR: `what should be a folder above the ${what} is a file`,
    EROFS: `the ${what} is on a file system that is read-only (EROFS)`,
    ENOENT: `the ${what} is where no folder can be made: ${cause.message}`,
  };
  const message = messages[cause.code ?? ''] ?? `cannot use the ${what}: ${cause.message}`;
  return new HeamsError(message, { code, where: { file: dir }, hint, cause });
}
