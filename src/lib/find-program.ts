import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve, sep } from 'node:path';

export interface ProgramPlaces {
  /** The value of PATH. */
  path: string;
  /** Where a path with a folder in it starts. */
  cwd: string;
  /** Endings that may be left out, as in PATHEXT on Windows. */
  endings?: readonly string[];
}

/** The file that a program's name stands for, as a shell finds it; nothing where there is none that can be run. */
export async function findProgram(
  name: string,
  { path, cwd, endings = [] }: ProgramPlaces,
): Promise<string | undefined> {
  const folders = name.includes('/') || name.includes(sep) ? [cwd] : path.split(delimiter).filter(Boolean);
  for (const folder of folders) {
    for (const ending of ['', ...endings]) {
      const file = folder === cwd ? resolve(cwd, name + ending) : join(folder, name + ending);
      if (await runs(file)) return file;
    }
  }
  return undefined;
}

async function runs(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
