import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childModule } from '../../test/support/child-module.ts';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { fakeStatus, storeContract } from '../../test/support/store-contract.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { runStatusSchema, type SampleRecord } from '../schema/record.ts';
import { LOCK_FILE } from './folder-lock.ts';
import { recordLine } from './records.ts';
import { RunFolder } from './run-folder.ts';

const now = '2025-01-01T00:00:00.000Z';
const asRoot = process.getuid?.() === 0;

storeContract('run folder', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'heams-'));
  return {
    store: await RunFolder.open(join(dir, 'results', 'run'), now),
    status: async (experiment) => {
      const file = join(dir, 'results', 'run', experiment, 'run_status.json');
      return runStatusSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
});

async function openFolder(dir: string): Promise<RunFolder> {
  const folder = await RunFolder.open(dir, now);
  onTestFinished(() => folder.close());
  return folder;
}

/** A run folder whose experiment `arm` has these bytes in its `runs.jsonl`. */
async function folderWith(content: string): Promise<{ folder: RunFolder; file: string }> {
  const dir = await tempFolder();
  const file = join(dir, 'arm', 'runs.jsonl');
  await mkdir(join(dir, 'arm'));
  await writeFile(file, content);
  return { folder: await openFolder(dir), file };
}

async function ids(folder: RunFolder): Promise<string[]> {
  const found: string[] = [];
  for await (const record of folder.records('arm')) found.push(record.sample_id);
  return found;
}

const a = fakeDone({ id: 'a' });
const b = fakeDone({ id: 'b', message: 'x'.repeat(3_000_000) });
const c = fakeFailed({ id: 'c' });
const lines = (...records: SampleRecord[]) => records.map(recordLine).join('');

describe('RunFolder: runs.jsonl', () => {
  it.each([
    ['in the middle of its head', lines(a), lines(c).slice(0, 9)],
    ['in the middle of a long record', lines(a), lines(b).slice(0, 2_000_000)],
    ['just before its newline', lines(a), lines(c).slice(0, -1)],
    ['by a power cut that left zeros', lines(a), '\0'.repeat(4096)],
    ['and is all there is', '', lines(a).slice(0, -1)],
  ])('cuts off a last line that was torn %s; its job is pending again', async (_, whole, torn) => {
    const { folder, file } = await folderWith(whole + torn);
    const keys = whole === '' ? [] : [a.key];
    expect(await folder.finished('arm')).toEqual({ done: new Set(keys), failed: new Set() });
    expect(await readFile(file, 'utf8')).toBe(whole);
    await folder.append(c);
    expect(await readFile(file, 'utf8')).toBe(whole + lines(c));
    expect(await ids(folder)).toEqual(whole === '' ? ['c'] : ['a', 'c']);
  });

  it.each([
    ['text', 'Dear diary'],
    ['an empty line', ''],
    ['JSON of another kind', '{"a": 1}'],
    ['a record of another version', lines(a).trim().replace('"version":1', '"version":2')],
    ['a carriage return, as an editor adds', `${lines(a).trim()}\r`],
    ['two records on one line, torn', lines(a).trim() + lines(b).slice(0, 100)],
  ])('refuses a folder with %s between records, naming file and line', async (_, foreign) => {
    const content = `${lines(c)}${foreign}\n${lines(b)}`;
    const { folder, file } = await folderWith(content);
    await expect(folder.finished('arm')).rejects.toMatchObject({
      code: 'records_foreign_line',
      where: { file, line: 2, column: 1 },
    });
    expect(await readFile(file, 'utf8')).toBe(content);
  });

  it.each(['Dear diary', `${lines(a)}Dear diary`])(
    'never cuts off a last line that is not its own',
    async (content) => {
      const { folder, file } = await folderWith(content);
      await expect(folder.finished('arm')).rejects.toMatchObject({ code: 'records_foreign_line', where: { file } });
      expect(await readFile(file, 'utf8')).toBe(content);
    },
  );

  it('is read back with lines longer than what is read at once', async () => {
    const { folder } = await folderWith(lines(a, b, c));
    expect(await folder.finished('arm')).toEqual({ done: new Set([a.key, b.key]), failed: new Set([c.key]) });
    expect(await ids(folder)).toEqual(['a', 'b', 'c']);
  });

  it('may be empty', async () => {
    const { folder } = await folderWith('');
    expect(await folder.finished('arm')).toEqual({ done: new Set(), failed: new Set() });
    expect(await ids(folder)).toEqual([]);
  });

  it('says so when it is no file', async () => {
    const dir = await tempFolder();
    const file = join(dir, 'arm', 'runs.jsonl');
    await mkdir(file, { recursive: true });
    const folder = await openFolder(dir);
    const error = { code: 'output_unusable', where: { file } };
    await expect(folder.finished('arm')).rejects.toMatchObject(error);
    await expect(folder.append(a)).rejects.toMatchObject(error);
  });

  it('keeps what was done when it is opened again', async () => {
    const dir = await tempFolder();
    const first = await RunFolder.open(dir, now);
    await first.append(a);
    await first.append(c);
    await first.close();
    const second = await openFolder(dir);
    expect(await second.finished('arm')).toEqual({ done: new Set([a.key]), failed: new Set([c.key]) });
    await second.append(fakeDone({ id: 'c' }));
    expect(await ids(second)).toEqual(['a', 'c']);
  });
});

describe('RunFolder: the folder', () => {
  it('is made with all folders above it, and holds nothing but what is documented', async () => {
    const dir = join(await tempFolder(), 'results', 'smoke');
    const folder = await RunFolder.open(dir, now);
    await folder.append(a);
    await folder.writeStatus(fakeStatus());
    expect((await readdir(dir)).sort()).toEqual([LOCK_FILE, 'arm']);
    expect((await readdir(join(dir, 'arm'))).sort()).toEqual(['run_status.json', 'runs.jsonl']);
    await folder.close();
    expect(await readdir(dir)).toEqual(['arm']);
  });

  it('is refused when it is a file', async () => {
    const file = join(await tempFolder(), 'taken');
    await writeFile(file, 'precious');
    const refused = RunFolder.open(file, now);
    await expect(refused).rejects.toMatchObject({ code: 'output_unusable', message: 'the output folder is a file' });
    await expect(RunFolder.open(join(file, 'below'), now)).rejects.toMatchObject({
      code: 'output_unusable',
      where: { file: join(file, 'below') },
      message: 'what should be a folder above the output folder is a file',
    });
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  it.skipIf(asRoot)('is refused when it cannot be written (root can write anywhere)', async () => {
    const dir = await tempFolder();
    await chmod(dir, 0o500);
    await expect(RunFolder.open(dir, now)).rejects.toMatchObject({ code: 'output_unusable', where: { file: dir } });
    const below = join(dir, 'below');
    await expect(RunFolder.open(below, now)).rejects.toMatchObject({ code: 'output_unusable', where: { file: below } });
  });

  it.skipIf(process.platform !== 'linux')('is refused where no folder or lock can be made', async () => {
    await expect(RunFolder.open('/sys/heams', now)).rejects.toMatchObject({ code: 'output_unusable' });
    await expect(RunFolder.open('/sys', now)).rejects.toMatchObject({
      code: 'output_unusable',
      message: expect.stringContaining('cannot write to the output folder') as string,
    });
  });

  it('is refused while it is in use, and free again when it is closed', async () => {
    const dir = await tempFolder();
    const first = await RunFolder.open(dir, now);
    await expect(RunFolder.open(dir, now)).rejects.toMatchObject({ code: 'output_in_use', where: { file: dir } });
    await first.close();
    await (await RunFolder.open(dir, now)).close();
  });

  it('is free again when it is closed with a log that could not be opened', async () => {
    const { folder } = await folderWith('');
    await mkdir(join(folder.dir, 'other', 'runs.jsonl'), { recursive: true });
    await expect(folder.finished('other')).rejects.toMatchObject({ code: 'output_unusable' });
    await folder.close();
    await (await RunFolder.open(folder.dir, now)).close();
  });

  it('says so when a status cannot be written, and leaves no part of it', async () => {
    const folder = await openFolder(await tempFolder());
    await mkdir(join(folder.dir, 'arm', 'run_status.json'), { recursive: true });
    await expect(folder.writeStatus(fakeStatus())).rejects.toMatchObject({
      code: 'output_unusable',
      where: { file: join(folder.dir, 'arm', 'run_status.json') },
    });
    expect(await readdir(join(folder.dir, 'arm'))).toEqual(['run_status.json']);
  });

  it('keeps what a killed process had appended, and lets its folder be taken over', async () => {
    const dir = await tempFolder();
    const child = childModule(
      `import { RunFolder } from './src/store/run-folder.ts';
       const folder = await RunFolder.open(${JSON.stringify(dir)}, '${now}');
       await folder.append(${JSON.stringify(a)});
       console.log('kept');`,
    );
    expect(await child.line()).toBe('kept');
    await expect(RunFolder.open(dir, now)).rejects.toMatchObject({ code: 'output_in_use' });
    await child.kill();
    await appendFile(join(dir, 'arm', 'runs.jsonl'), lines(b).slice(0, 1000));
    const folder = await openFolder(dir);
    expect(await folder.finished('arm')).toEqual({ done: new Set([a.key]), failed: new Set() });
  });
});
