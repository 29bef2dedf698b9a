import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
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

/** Locks of this process. A lock with its number that is not among them was left by a process that had it before. */
const held = new Set<string>();

function isStale(holder: Lock, host: string): boolean {
  return holder.host === host && (holder.pid === process.pid || !isAlive(holder.pid));
}

/**
 * Takes a stale lock out of the way. Of several processes that found it stale only one can move it; one that moved a
 * fresh lock instead, made in between, puts it back.
 */
async function removeStale(file: string, found: Lock | undefined, aside: string): Promise<void> {
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (!isDeepStrictEqual(await readLock(aside), found)) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
}

async function claim(dir: string, file: string, mine: Lock): Promise<void> {
  const own = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(own, JSON.stringify(mine), { flag: 'wx' });
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // A link appears whole or not at all, and only one process can make it.
        return await link(own, file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = await readLock(file);
      if (holder && !isStale(holder, mine.host)) throw inUse(dir, holder);
      await removeStale(file, holder, `${own}.stale`);
    }
    throw inUse(dir, (await readLock(file)) ?? mine);
  } finally {
    await rm(own, { force: true });
  }
}

/** Removes what a process left that died between making its claim and taking it back. */
async function sweepClaims(dir: string, host: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(`${LOCK_FILE}.`)) continue;
    const claimed = await readLock(join(dir, name));
    if (claimed && isStale(claimed, host)) await rm(join(dir, name), { force: true });
  }
}

/**
 * Claims a folder for this process. A lock that a dead process of this host left behind is taken over at once; one of
 * another host cannot be checked and is respected. Returns what releases it.
 */
export async function lockFolder(dir: string, startedAt: string): Promise<() => Promise<void>> {
  const file = join(await realpath(dir), LOCK_FILE);
  const mine: Lock = { pid: process.pid, host: hostname(), started_at: startedAt };
  if (held.has(file)) throw inUse(dir, (await readLock(file)) ?? mine);
  held.add(file);
  try {
    await claim(dir, file, mine);
    await sweepClaims(dir, mine.host);
  } catch (error) {
    held.delete(file);
    throw error;
  }
  let released = false;
  return async () => {
    if (released) return;
    released = true;
    try {
      const holder = await readLock(file);
      if (holder?.pid === mine.pid && holder.host === mine.host) await rm(file, { force: true });
    } finally {
      held.delete(file);
    }
  };
}
