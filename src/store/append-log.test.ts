import { appendFile, type FileHandle, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { childModule } from '../../test/support/child-module.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { AppendLog } from './append-log.ts';

/** What every file handle inherits from: where a test can watch and fail the disk. */
async function fileHandles(dir: string): Promise<FileHandle> {
  const handle = await open(join(dir, 'probe'), 'w');
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

describe('AppendLog', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('writes appends that come together in one go, in order, with one sync', async () => {
    const dir = await tempFolder();
    const log = await AppendLog.open(join(dir, 'log'));
    const syncs = vi.spyOn(await fileHandles(dir), 'datasync');
    const lines = Array.from({ length: 200 }, (_, i) => `${i} ${'é'.repeat(i * 11)}\n`);
    await Promise.all(lines.map((line) => log.append(line)));
    expect(syncs).toHaveBeenCalledTimes(1);
    await log.close();
    expect(await readFile(join(dir, 'log'), 'utf8')).toBe(lines.join(''));
  });

  it('resolves an append only when its line is synced, and lets later ones share the next write', async () => {
    const dir = await tempFolder();
    const log = await AppendLog.open(join(dir, 'log'));
    let synced = () => {};
    const syncs = vi.spyOn(await fileHandles(dir), 'datasync').mockImplementationOnce(
      () =>
        new Promise<void>((resolve) => {
          synced = resolve;
        }),
    );
    const order: string[] = [];
    const first = log.append('1\n').then(() => order.push('first'));
    await vi.waitFor(() => expect(syncs).toHaveBeenCalled());
    const later = ['2\n', '3\n'].map((line) => log.append(line).then(() => order.push('later')));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    synced();
    await Promise.all([first, ...later]);
    expect(order).toEqual(['first', 'later', 'later']);
    expect(syncs).toHaveBeenCalledTimes(2);
    await log.close();
  });

  it('takes nothing more after a write that failed, and refuses what was waiting', async () => {
    const dir = await tempFolder();
    const file = join(dir, 'log');
    const log = await AppendLog.open(file);
    await log.append('before\n');
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const syncs = vi.spyOn(await fileHandles(dir), 'datasync').mockRejectedValueOnce(full);
    const first = log.append('1\n');
    const waiting = first.catch(() => log.append('2\n'));
    await expect(first).rejects.toMatchObject({ code: 'records_write_failed', where: { file }, cause: full });
    await expect(waiting).rejects.toMatchObject({ code: 'records_write_failed' });
    await expect(log.append('3\n')).rejects.toMatchObject({ code: 'records_write_failed' });
    expect(syncs).toHaveBeenCalledTimes(1);
    await log.close();
    expect(await readFile(file, 'utf8')).not.toContain('3');
  });

  it('finishes what is under way before it closes, and refuses what comes afterwards', async () => {
    const file = join(await tempFolder(), 'log');
    const log = await AppendLog.open(file);
    const last = log.append('last\n');
    await log.close();
    await last;
    expect(await readFile(file, 'utf8')).toBe('last\n');
    await expect(log.append('late\n')).rejects.toMatchObject({ code: 'records_write_failed' });
  });

  it('cuts off what follows the last newline of any file, and appends there', async () => {
    const file = join(await tempFolder(), 'log');
    const byte = fc.oneof({ weight: 1, arbitrary: fc.constant(0x0a) }, { weight: 9, arbitrary: fc.nat(255) });
    const content = fc.array(byte, { maxLength: 60 }).map((bytes) => Buffer.from(bytes));
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        await writeFile(file, bytes);
        const log = await AppendLog.open(file);
        await log.append('next\n');
        await log.close();
        const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
        expect(await readFile(file)).toEqual(Buffer.concat([whole, Buffer.from('next\n')]));
      }),
      { numRuns: 60 },
    );
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 200_000])('cuts off a torn line of %i bytes', async (length) => {
    const file = join(await tempFolder(), 'log');
    await writeFile(file, 'whole\n');
    await appendFile(file, 'x'.repeat(length));
    await (await AppendLog.open(file)).close();
    expect((await stat(file)).size).toBe(6);
  });

  it.skipIf(process.platform === 'win32')('survives a disk that is full in the middle of a line', async () => {
    const file = join(await tempFolder(), 'log');
    const child = childModule(
      `import { AppendLog } from './src/store/append-log.ts';
       const log = await AppendLog.open(${JSON.stringify(file)});
       const report = { kept: 0, codes: [] };
       for (let i = 0; i < 20; i++) {
         try { await log.append(i + ' ' + 'x'.repeat(3000) + '\\n'); report.kept++; }
         catch (error) { report.codes.push(error.code); }
       }
       console.log(JSON.stringify(report));`,
      { fileBlocks: 32 },
    );
    const report = JSON.parse(await child.line()) as { kept: number; codes: string[] };
    await child.kill();
    // The limit of 32 blocks is 16 or 32 KiB, as the shell counts; 3,0xx bytes a line divide neither.
    expect([5, 10]).toContain(report.kept);
    expect(report.codes).toEqual(Array.from({ length: 20 - report.kept }, () => 'records_write_failed'));
    expect((await readFile(file)).at(-1)).not.toBe(0x0a);

    const log = await AppendLog.open(file);
    await log.append('after\n');
    await log.close();
    const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      ...Array.from({ length: report.kept }, (_, i) => String(i)),
      'after',
    ]);
  });
});
