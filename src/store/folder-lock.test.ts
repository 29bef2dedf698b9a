import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childModule } from '../../test/support/child-module.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { LOCK_FILE, lockFolder } from './folder-lock.ts';

const since = '2025-01-01T00:00:00.000Z';

async function withLock(content: string | { pid: number; host: string }): Promise<string> {
  const dir = await tempFolder();
  const text = typeof content === 'string' ? content : JSON.stringify({ ...content, started_at: since });
  await writeFile(join(dir, LOCK_FILE), text);
  return dir;
}

async function holder(dir: string): Promise<unknown> {
  return JSON.parse(await readFile(join(dir, LOCK_FILE), 'utf8'));
}

const mine = { pid: process.pid, host: hostname(), started_at: since };

describe('lockFolder', () => {
  it('says who holds the folder, and leaves nothing behind', async () => {
    const dir = await tempFolder();
    const release = await lockFolder(dir, since);
    expect(await holder(dir)).toEqual(mine);
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
    await release();
    expect(await readdir(dir)).toEqual([]);
  });

  it('refuses a second claim of the same process until the first is released', async () => {
    const dir = await tempFolder();
    const release = await lockFolder(dir, since);
    await expect(lockFolder(dir, since)).rejects.toMatchObject({
      code: 'output_in_use',
      where: { file: dir },
      found: `process ${process.pid} on ${hostname()}, since ${since}`,
    });
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
    await release();
    await (await lockFolder(dir, since))();
  });

  it('knows the folder by any of its names', async () => {
    const dir = await tempFolder();
    const other = join(await tempFolder(), 'link');
    await symlink(dir, other);
    const release = await lockFolder(dir, since);
    await expect(lockFolder(other, since)).rejects.toMatchObject({ code: 'output_in_use' });
    await release();
  });

  it('gives the folder to one of many claims at once', async () => {
    const dir = await tempFolder();
    const claims = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(dir, since)));
    const won = claims.filter((claim) => claim.status === 'fulfilled');
    expect(won.length).toBe(1);
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
    await won[0]?.value();
  });

  it('releases once: a late second release does not touch the next claim', async () => {
    const dir = await tempFolder();
    const first = await lockFolder(dir, since);
    await first();
    const second = await lockFolder(dir, since);
    await first();
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
    await second();
  });

  it('respects a lock of another host', async () => {
    const dir = await withLock({ pid: 1, host: 'elsewhere.invalid' });
    await expect(lockFolder(dir, since)).rejects.toMatchObject({
      code: 'output_in_use',
      hint: expect.stringContaining(join(dir, LOCK_FILE)) as string,
    });
    expect(await holder(dir)).toMatchObject({ host: 'elsewhere.invalid' });
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
  });

  it('respects a lock of a living process of this host', async () => {
    const dir = await withLock({ pid: process.ppid, host: hostname() });
    await expect(lockFolder(dir, since)).rejects.toMatchObject({ code: 'output_in_use' });
    expect(await holder(dir)).toMatchObject({ pid: process.ppid });
  });

  it.each([
    ['a lock that a crash left empty', ''],
    ['a lock that is not JSON', '{"pid":'],
    // As when a container is started again: the number is its own, the lock is not.
    ['a lock of an earlier process with the same number', JSON.stringify(mine)],
  ])('takes over %s', async (_, content) => {
    const dir = await withLock(content);
    const release = await lockFolder(dir, '2025-02-02T00:00:00.000Z');
    expect(await holder(dir)).toEqual({ ...mine, started_at: '2025-02-02T00:00:00.000Z' });
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
    await release();
  });

  it('leaves a lock alone that somebody else put in its place', async () => {
    const dir = await tempFolder();
    const release = await lockFolder(dir, since);
    const other = { pid: 1, host: 'elsewhere.invalid', started_at: since };
    await writeFile(join(dir, LOCK_FILE), JSON.stringify(other));
    await release();
    expect(await holder(dir)).toEqual(other);
  });

  it('holds against another process, and is taken over when that is killed', async () => {
    const dir = await tempFolder();
    const child = childModule(
      `import { lockFolder } from './src/store/folder-lock.ts';
       await lockFolder(${JSON.stringify(dir)}, '${since}');
       console.log('locked');`,
    );
    expect(await child.line()).toBe('locked');
    await expect(lockFolder(dir, since)).rejects.toMatchObject({
      code: 'output_in_use',
      found: `process ${child.process.pid} on ${hostname()}, since ${since}`,
    });
    await child.kill();
    const release = await lockFolder(dir, since);
    expect(await holder(dir)).toEqual(mine);
    await release();
  });

  it.each([
    ['a guard that a crash left as well', [LOCK_FILE, `${LOCK_FILE}.stale`]],
    ['two guards that crashes left as well', [LOCK_FILE, `${LOCK_FILE}.stale`, `${LOCK_FILE}.stale.stale`]],
  ])('takes over a stale lock with %s', async (_, names) => {
    const dir = await tempFolder();
    for (const name of names) await writeFile(join(dir, name), JSON.stringify({ ...mine, started_at: 'earlier' }));
    const release = await lockFolder(dir, since);
    expect(await holder(dir)).toEqual(mine);
    expect(await readdir(dir)).toEqual([LOCK_FILE]);
    await release();
  });

  it('sweeps the claims of dead processes, and those alone', async () => {
    const dir = await tempFolder();
    const claim = (name: string, pid: number, host: string) =>
      writeFile(join(dir, `${LOCK_FILE}.${name}`), JSON.stringify({ pid, host, started_at: since }));
    await claim('dead', process.pid, hostname());
    await claim('alive', process.ppid, hostname());
    await claim('elsewhere', 1, 'elsewhere.invalid');
    await writeFile(join(dir, 'notes.txt'), JSON.stringify(mine));
    const release = await lockFolder(dir, since);
    const left = [LOCK_FILE, `${LOCK_FILE}.alive`, `${LOCK_FILE}.elsewhere`, 'notes.txt'];
    expect((await readdir(dir)).sort()).toEqual(left);
    await release();
  });

  it('is second to a living process that is taking the stale lock over', async () => {
    const dir = await withLock('');
    const guard = JSON.stringify({ pid: process.ppid, host: hostname(), started_at: since });
    await writeFile(join(dir, `${LOCK_FILE}.stale`), guard);
    await expect(lockFolder(dir, since)).rejects.toMatchObject({
      code: 'output_in_use',
      found: expect.stringContaining(`process ${process.ppid}`) as string,
    });
    expect(await readFile(join(dir, LOCK_FILE), 'utf8')).toBe('');
  });

  it('gives each of many stale locks to one of several processes', async () => {
    const dead = childModule('console.log(1)');
    await dead.line();
    await dead.kill();
    const dirs = await Promise.all(
      Array.from({ length: 40 }, () => withLock({ pid: dead.process.pid ?? 0, host: hostname() })),
    );
    const children = Array.from({ length: 3 }, () =>
      childModule(
        `import { lockFolder } from './src/store/folder-lock.ts';
         console.log('ready');
         await new Promise((resolve) => process.stdin.once('data', resolve));
         const outcomes = [];
         for (const dir of ${JSON.stringify(dirs)}) {
           outcomes.push(await lockFolder(dir, '${since}').then(() => 'won', (error) => error.code ?? error.message));
         }
         console.log(JSON.stringify(outcomes));`,
      ),
    );
    for (const child of children) expect(await child.line()).toBe('ready');
    for (const child of children) child.process.stdin?.write('go\n');
    const outcomes = await Promise.all(children.map(async (child) => JSON.parse(await child.line()) as string[]));
    const left = await Promise.all(dirs.map((dir) => readdir(dir)));
    await Promise.all(children.map((child) => child.kill()));
    for (const i of dirs.keys()) {
      expect(outcomes.map((of) => of[i]).sort()).toEqual(['output_in_use', 'output_in_use', 'won']);
      expect(left[i]).toEqual([LOCK_FILE]);
    }
  });
});
