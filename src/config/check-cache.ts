import { folderError, probeFolder } from '../lib/make-folders.ts';
import type { Run } from './run.ts';

/** Refuses a response cache that cannot be written to, before anything is paid for that it was to keep. */
export async function checkCache({ settings }: Run): Promise<void> {
  const { cache_dir: dir } = settings;
  if (dir === undefined) return;
  await probeFolder(dir).catch((cause: unknown) => {
    throw folderError(dir, cause, {
      what: 'cache folder',
      code: 'cache_unusable',
      hint: 'name another cache_dir in the run file, or take it out: then nothing is cached',
    });
  });
}
