import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../lib/write-file.ts';

/**
 * Makes a file that is there whole or not at all: `write` fills a temporary file in a folder of its own beside the
 * target, which is then synced and renamed. Whatever fails, nothing is left behind and an older file stays as it was.
 * The folder's name is unique, so that several processes may do this at once; the last one wins.
 */
export async function writeWhole<T>(target: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  const own = await mkdtemp(join(folder, '.incoming-'));
  try {
    // The same name, because readers go by its extension.
    const temporary = join(own, basename(target));
    const result = await write(temporary);
    await syncFile(temporary);
    await rename(temporary, target);
    await syncFolder(folder);
    return result;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
