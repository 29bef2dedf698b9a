import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HeamsError } from '../lib/errors.ts';
import { type RunStatus, runStatusSchema } from '../schema/record.ts';

export const STATUS_FILE = 'run_status.json';

/** How the reader names the error, and what it tells the user to do. */
export interface StatusError {
  code: string;
  hint: string;
}

/**
 * The status beside an experiment's records; nothing where there is none, as for records that came from elsewhere. A
 * status that cannot be read is an error and never "nothing": a run that stopped half-way must not pass for a whole one.
 */
export async function readRunStatus(dir: string, { code, hint }: StatusError): Promise<RunStatus | undefined> {
  const file = join(dir, STATUS_FILE);
  try {
    return runStatusSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new HeamsError('this is no status of a run', { code, where: { file }, hint, cause });
  }
}
