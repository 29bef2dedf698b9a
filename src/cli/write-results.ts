import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { writeFileWhole } from '../lib/write-file.ts';

/** Writes a command's files into a folder, each whole or not at all; gives their paths. */
export async function writeResults(dir: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const written: string[] = [];
  try {
    await mkdir(dir, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      await writeFileWhole(join(dir, name), content);
      written.push(join(dir, name));
    }
  } catch (cause) {
    throw new HeamsError(`cannot write the results: ${messageOf(cause)}`, {
      code: 'results_write_failed',
      where: { file: dir },
      hint: 'mend the permissions or make room, or name another folder with --output-dir',
      cause,
    });
  }
  return written;
}
