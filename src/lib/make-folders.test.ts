import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderError, makeFolders, probeFolder } from './make-folders.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heams-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('makeFolders', () => {
  it('makes what is missing and tells what that was, the topmost first', async () => {
    const dir = join(root, 'a', 'b', 'c');
    expect(await makeFolders(dir)).toEqual([join(root, 'a'), join(root, 'a', 'b'), dir]);
    expect((await stat(dir)).isDirectory()).toBe(true);
    expect(await makeFolders(dir)).toEqual([]);
  });

  it('is fine with others who make the same at once', async () => {
    const dir = join(root, 'many', 'x', 'y');
    const fresh = await Promise.all(Array.from({ length: 8 }, () => makeFolders(dir)));
    expect(new Set(fresh.flat()).size).toBe(3);
    expect(fresh.flat()).toHaveLength(3);
  });

  it('follows a link to a folder, and says when a file or a dead link is in the way', async () => {
    await mkdir(join(root, 'real'));
    await symlink(join(root, 'real'), join(root, 'link'));
    expect(await makeFolders(join(root, 'link', 'in'))).toEqual([join(root, 'link', 'in')]);
    await writeFile(join(root, 'file'), '');
    await expect(makeFolders(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolders(join(root, 'file', 'in', 'it'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await symlink(join(root, 'gone'), join(root, 'dead'));
    await expect(makeFolders(join(root, 'dead'))).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it.skipIf(platform() !== 'linux')('ends with an error below /proc, where nothing can be made', async () => {
    await expect(makeFolders('/proc/heams/results')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('probeFolder', () => {
  it('leaves nothing behind, be the folder there or not', async () => {
    const dir = join(root, 'probe');
    await probeFolder(join(dir, 'deep', 'er'));
    await expect(stat(dir)).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(dir);
    await writeFile(join(dir, 'kept'), 'text');
    await probeFolder(dir);
    expect(await readdir(dir)).toEqual(['kept']);
  });

  it('fails as writing would', async () => {
    await writeFile(join(root, 'a-file'), '');
    await expect(probeFolder(join(root, 'a-file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(probeFolder(join(root, 'a-file', 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});

describe('folderError', () => {
  const use = { what: 'output folder', code: 'output_unusable', hint: 'choose another' };
  const error = (code: string) =>
    folderError('/x', Object.assign(new Error(`${code}: words, mkdir '/x'`), { code }), use);

  it.each([
    ['EROFS', 'the output folder is on a file system that is read-only (EROFS)'],
    ['EEXIST', 'the output folder is a file'],
    ['ENOTDIR', 'what should be a folder above the output folder is a file'],
    ['ENOENT', "the output folder is where no folder can be made: ENOENT: words, mkdir '/x'"],
    ['EACCES', "cannot use the output folder: EACCES: words, mkdir '/x'"],
  ])('says %s in words', (code, message) => {
    expect(error(code)).toMatchObject({
      code: 'output_unusable',
      message,
      where: { file: '/x' },
      hint: 'choose another',
    });
  });
});
