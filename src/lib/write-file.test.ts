import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childModule } from '../../test/support/child-module.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { syncFolder, writeFileWhole } from './write-file.ts';

describe('writeFileWhole', () => {
  it('makes a file, or replaces it, and leaves nothing else', async () => {
    const dir = await tempFolder();
    const file = join(dir, 'status.json');
    await writeFileWhole(file, 'a long first content');
    await writeFileWhole(file, 'two');
    expect(await readFile(file, 'utf8')).toBe('two');
    await writeFileWhole(file, Uint8Array.of(0, 255));
    expect([...(await readFile(file))]).toEqual([0, 255]);
    expect(await readdir(dir)).toEqual(['status.json']);
  });

  it('ends with one of the contents when several are written at once', async () => {
    const dir = await tempFolder();
    const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(contents.map((content) => writeFileWhole(join(dir, 'status.json'), content)));
    expect(contents).toContain(await readFile(join(dir, 'status.json'), 'utf8'));
    expect(await readdir(dir)).toEqual(['status.json']);
  });

  it('leaves no temporary file when it cannot put the content in place', async () => {
    const dir = await tempFolder();
    await mkdir(join(dir, 'taken', 'below'), { recursive: true });
    await expect(writeFileWhole(join(dir, 'taken'), 'x')).rejects.toMatchObject({ syscall: 'rename' });
    expect(await readdir(dir)).toEqual(['taken']);
  });

  it('tells the first error when there is no folder to write to', async () => {
    const dir = await tempFolder();
    await expect(writeFileWhole(join(dir, 'missing', 'x'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(join(dir, 'file'), '');
    await expect(writeFileWhole(join(dir, 'file', 'x'), 'x')).rejects.toMatchObject({
      code: 'ENOTDIR',
      syscall: 'open',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'keeps the old content, and nothing else, when the disk is full',
    async () => {
      const dir = await tempFolder();
      const file = join(dir, 'status.json');
      await writeFile(file, 'old');
      const child = childModule(
        `import { writeFileWhole } from './src/lib/write-file.ts';
       const write = writeFileWhole(${JSON.stringify(file)}, 'x'.repeat(100_000));
       console.log(await write.then(() => 'written', (error) => error.code));`,
        { fileBlocks: 32 },
      );
      expect(await child.line()).toBe('EFBIG');
      await child.kill();
      expect(await readFile(file, 'utf8')).toBe('old');
      expect(await readdir(dir)).toEqual(['status.json']);
    },
  );
});

describe('syncFolder', () => {
  it('has nothing to do for a folder that is gone', async () => {
    const dir = await tempFolder();
    await syncFolder(dir);
    await rm(dir, { recursive: true });
    await syncFolder(dir);
  });
});
