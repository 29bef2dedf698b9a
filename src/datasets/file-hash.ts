import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { HeamsError, messageOf } from '../lib/errors.ts';

/** SHA-256 of a file's content, in hex. */
export async function sha256OfFile(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unreadableFile(file, error);
  });
  return hash.digest('hex');
}

export function unreadableFile(file: string, cause: unknown): HeamsError {
  return new HeamsError('the file cannot be read', {
    code: 'dataset_unreadable',
    where: { file },
    expected: 'a readable file',
    found: messageOf(cause),
    cause,
  });
}
