import { writeFiles } from '../report/write-files.ts';

/** Writes a command's files into a folder, each whole or not at all; gives their paths. */
export const writeResults = (dir: string, files: Readonly<Record<string, string>>): Promise<string[]> =>
  writeFiles(dir, files, {
    what: 'the results',
    code: 'results_write_failed',
    hint: 'mend the permissions or make room, or name another folder with --output-dir',
  });
