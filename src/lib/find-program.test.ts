import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { findProgram } from './find-program.ts';

describe('findProgram', () => {
  it('finds what can be run, where a shell would', async () => {
    const dir = await tempFolder();
    await mkdir(join(dir, 'bin/folder'), { recursive: true });
    for (const [file, mode] of [
      ['bin/tool', 0o755],
      ['bin/text', 0o644],
      ['own.sh', 0o755],
      ['bin/x.exe', 0o755],
    ] as const) {
      await writeFile(join(dir, file), '');
      await chmod(join(dir, file), mode);
    }
    const find = (name: string, endings?: string[]) =>
      findProgram(name, { path: `/nonexistent:${join(dir, 'bin')}`, cwd: dir, ...(endings ? { endings } : {}) });
    expect(await find('tool')).toBe(join(dir, 'bin/tool'));
    expect(await find('./own.sh')).toBe(join(dir, 'own.sh'));
    expect(await find('bin/tool')).toBe(join(dir, 'bin/tool'));
    expect(await find(join(dir, 'own.sh'))).toBe(join(dir, 'own.sh'));
    expect(await find('x', ['.com', '.exe'])).toBe(join(dir, 'bin/x.exe'));
    // A file that may not be run, a folder, a file that is not on the path, and nothing at all.
    for (const name of ['text', 'folder', 'own.sh', 'absent', './absent']) expect(await find(name)).toBeUndefined();
  });
});
