import { hostname } from 'node:os';
import { link, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { HeamsError } from '../lib/errors.ts';

const lockSchema = z.object({ pid: z.int(), host: z.string(), started_at: z.string() });
type Lock = z.infer<typeof lockSchema>;

export const LOCK_FILE = '.heams.lock';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function readLock(file: string): Promise<Lock | undefined> {
  try {
    return lockSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

function inUse(dir: string, holder: Lock): HeamsError {
  return new HeamsError('this output folder is in use by another run', {
    code: 'output_in_use',
    where: { file: dir },
    found: `process ${holder.pid} on ${holder.host}, since ${holder.started_at}`,
    hint: `wait for it, choose another --output-dir, or, if that process is gone, remove ${join(dir, LOCK_FILE)}`,
  });
}

/**
 * Claims a folder for this process. A lock that a dead process of this host left behind is taken over at once; one of
 * another host cannot be checked and is respected. Returns what releases it.
 */
export async function lockFolder(dir: string, startedAt: string): Promise<() => Promise<void>> {
  const file = join(dir, LOCK_FILE);
  const mine: Lock = { pid: process.pid, host: hostname(), started_at: startedAt };
  const claim = `${file}.${process.pid}`;
  await writeFile(claim, JSON.stringify(mine));
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // A link appears whole or not at all, and only one process can make it.
        await link(claim, file);
        return async () => {
          const holder = await readLock(file);
          if (holder?.pid === mine.pid && holder.host === mine.host) await rm(file, { force: true });
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = await readLock(file);
      if (holder && (holder.host !== mine.host || holder.pid === mine.pid || isAlive(holder.pid))) {
        throw inUse(dir, holder);
      }
      await unlink(file).catch(() => undefined);
    }
    throw inUse(dir, (await readLock(file)) ?? mine);
  } finally {
    await rm(claim, { force: true });
  }
}
