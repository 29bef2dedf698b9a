import { join } from 'node:path';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { makeFolders } from '../lib/make-folders.ts';
import { writeFileWhole } from '../lib/write-file.ts';

/** What to say when a file cannot be written. */
export interface WriteFailure {
  /** "the report" */
  what: string;
  code: string;
  hint: string;
}

/** Writes files into a folder, each whole or not at all; gives their paths. */
export async function writeFiles(
  dir: string,
  files: Readonly<Record<string, string>>,
  { what, code, hint }: WriteFailure,
): Promise<string[]> {
  const written: string[] = [];
  try {
    await makeFolders(dir);
    for (const [name, content] of Object.entries(files)) {
      await writeFileWhole(join(dir, name), content);
      written.push(join(dir, name));
    }
  } catch (cause) {
    throw new HeamsError(`cannot write ${what}: ${messageOf(cause)}`, { code, where: { file: dir }, hint, cause });
  }
  return written;
}
