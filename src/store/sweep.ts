import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TEMPORARY } from '../lib/write-file.ts';

/**
 * Removes temporary files that a killed process left in a folder. `olderThanMs` spares those that another process, which
 * writes a report say, may be about to rename.
 */
export async function sweepTemporary(dir: string, nowMs: number, olderThanMs: number): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!TEMPORARY.test(name)) continue;
    const file = join(dir, name);
    const info = await stat(file).catch(() => undefined);
    if (info && nowMs - info.mtimeMs >= olderThanMs) await rm(file, { force: true });
  }
}
