import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, realpath, rm, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
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

/** The text of a lock; nothing when there is none. */
async function readLock(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Who holds a lock; nothing when a crash left it broken, as a lock appears whole or not at all. */
function holderOf(text: string | undefined): Lock | undefined {
  try {
    return lockSchema.parse(JSON.parse(text ?? ''));
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

function isStale(holder: Lock): boolean {
  return holder.host === hostname() && (holder.pid === process.pid || !isAlive(holder.pid));
}

function refuseIfAlive(dir: string, text: string): void {
  const holder = holderOf(text);
  if (holder && !isStale(holder)) throw inUse(dir, holder);
}

/** Makes `file` a link to a claim. A link appears whole or not at all, and only one process can make it. */
async function linked(claim: string, file: string): Promise<boolean> {
  try {
    await link(claim, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const MOST_GUARDS = 3;

/**
 * Removes a lock that was found stale, unless it is another by now. A guard, itself a lock, lets one process at a time
 * look and remove, so that nobody removes the fresh lock of whoever was faster. Who finds a guard of a living process is
 * second; a stale guard is removed in the same way.
 */
async function removeStale(dir: string, file: string, found: string, claim: string, guards = 1): Promise<void> {
  const guard = `${file}.stale`;
  if (!(await linked(claim, guard))) {
    const other = await readLock(guard);
    if (other === undefined) return;
    refuseIfAlive(dir, other);
    if (guards === MOST_GUARDS) throw new Error(`remove ${file} and what starts with its name`);
    return removeStale(dir, guard, other, claim, guards + 1);
  }
  try {
    if ((await readLock(file)) === found) await unlink(file);
  } finally {
    await rm(guard, { force: true });
  }
}

async function take(dir: string, file: string, mine: Lock): Promise<void> {
  const claim = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(claim, JSON.stringify(mine), { flag: 'wx' });
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      if (await linked(claim, file)) return;
      const found = await readLock(file);
      if (found === undefined) continue;
      refuseIfAlive(dir, found);
      await removeStale(dir, file, found, claim);
    }
    throw inUse(dir, holderOf(await readLock(file)) ?? mine);
  } finally {
    await rm(claim, { force: true });
  }
}

/** Removes claims and guards that dead processes left. Whoever holds the lock may: nobody else finds it stale meanwhile. */
async function sweepClaims(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(`${LOCK_FILE}.`)) continue;
    const claimed = holderOf(await readLock(join(dir, name)));
    if (claimed && isStale(claimed)) await rm(join(dir, name), { force: true });
  }
}

/**
 * Claims a folder for this process. A lock that a dead process of this host left behind is taken over at once; one of
 * another host cannot be checked and is respected. Returns what releases it.
 */
export async function lockFolder(dir: string, startedAt: string): Promise<() => Promise<void>> {
  const file = join(await realpath(dir), LOCK_FILE);
  const mine: Lock = { pid: process.pid, host: hostname(), started_at: startedAt };
  if (held.has(file)) throw inUse(dir, holderOf(await readLock(file)) ?? mine);
  held.add(file);
  let released = false;
  const release = async () => {
    if (released) return;
    released = true;
    try {
      const holder = holderOf(await readLock(file));
      if (holder?.pid === mine.pid && holder.host === mine.host) await rm(file, { force: true });
    } finally {
      held.delete(file);
    }
  };
  try {
    await take(dir, file, mine);
    await sweepClaims(dir);
    return release;
  } catch (error) {
    await release().catch(() => undefined);
    throw error;
  }
}
