import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Clock } from '../contracts/call.ts';
import { HeamsError } from '../lib/errors.ts';
import type { DatasetManifest } from '../schema/dataset-manifest.ts';
import { type CachedFile, type CacheRequest, cachedFilePath, findCached, inCache, writeManifest } from './hub-cache.ts';
import { type HubFileInfo, hubClient, isOffline } from './hub-client.ts';
import { hubFileName, hubOffline, wrongHash, wrongLength } from './hub-errors.ts';
import { readRows } from './read-rows.ts';
import type { Columns } from './row.ts';
import { writeWhole } from './write-whole.ts';

export interface FetchRequest extends CacheRequest {
  columns: Columns;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Ask the hub again what the revision stands for now, even where the cache has it. */
  refresh?: boolean;
  onProgress?: (progress: { bytes: number; total: number }) => void;
}

/** `downloaded` is false where the content was in the cache already. */
export interface FetchedFile extends CachedFile {
  downloaded: boolean;
}

/**
 * A file of a dataset repository on the hub, from the cache where it is there and as it was fetched. Otherwise it is
 * downloaded, checked (length, the hub's hash, the configured hash, every row readable) and only then moved into the
 * cache; a failure leaves the cache as it was.
 *
 * Files lie under the commit they belong to, `<cacheDir>/<owner>--<name>/<commit>/<path>`, and never change there. A
 * manifest under each revision that was asked for says which commit it stood for, so that several revisions lie side by
 * side, and a branch that moves on does not change a run: only `refresh` asks the hub again.
 */
export async function fetchFromHub(request: FetchRequest): Promise<FetchedFile> {
  const known = request.refresh ? undefined : await findCached(request);
  if (known) return { ...known, downloaded: false };
  if (isOffline(request.env)) throw hubOffline(request);

  const client = hubClient({ file: request, env: request.env, signal: request.signal, clock: request.clock });
  const commit = await client.commit();
  const same = await findCommit(request, commit);
  if (same) {
    const manifest = { ...same.manifest, requested_revision: request.revision };
    await inCache(request.cacheDir, () => writeManifest(request, manifest));
    return { file: same.file, manifest, downloaded: false };
  }

  const info = await client.info(commit);
  if (info.hash.kind === 'sha256') throwIfNotConfigured(request, info.hash.hex);
  const file = cachedFilePath(request, commit);
  return inCache(request.cacheDir, async () => {
    const response = await client.open(commit);
    const content = await writeWhole(file, async (temporary) => {
      const sha256 = await save(response, temporary, { info, request });
      return { sha256, bytes: info.bytes, rows: await countRows(temporary, request) };
    });
    const manifest: DatasetManifest = {
      version: 1,
      repository: request.repo,
      requested_revision: request.revision,
      revision: commit,
      path: request.path,
      ...content,
      fetched_at: new Date(request.clock.now()).toISOString(),
    };
    if (commit !== request.revision) await writeManifest(request, { ...manifest, requested_revision: commit });
    await writeManifest(request, manifest);
    return { file, manifest, downloaded: true };
  });
}

/** The commit's file, if the cache has it. A changed one stands in the way, unless the user asked to fetch again. */
async function findCommit(request: FetchRequest, commit: string): Promise<CachedFile | undefined> {
  try {
    return await findCached({ ...request, revision: commit });
  } catch (error) {
    if (request.refresh && error instanceof HeamsError && error.code === 'dataset_cache_changed') return undefined;
    throw error;
  }
}

/** Streams the body into a file and returns its sha256, once its length and its hashes are right. */
async function save(
  response: Response,
  target: string,
  { info, request }: { info: HubFileInfo; request: FetchRequest },
): Promise<string> {
  const sha256 = createHash('sha256');
  const gitSha1 = createHash('sha1').update(`blob ${info.bytes}\0`);
  const { signal } = request;
  let received = 0;

  async function* body() {
    try {
      for await (const chunk of response.body ?? []) {
        signal.throwIfAborted();
        received += chunk.length;
        // A body without end must not fill the disk.
        if (received > info.bytes) break;
        sha256.update(chunk);
        gitSha1.update(chunk);
        request.onProgress?.({ bytes: received, total: info.bytes });
        yield chunk;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw wrongLength(request, { expected: info.bytes, received }, error);
    }
  }

  await writeFile(target, body());
  if (received !== info.bytes) throw wrongLength(request, { expected: info.bytes, received });
  const found = sha256.digest('hex');
  const byHub = info.hash.kind === 'sha256' ? found : gitSha1.digest('hex');
  if (byHub !== info.hash.hex) {
    throw wrongHash(hubFileName(request), { expected: info.hash.hex, found: byHub, by: 'the hub' });
  }
  throwIfNotConfigured(request, found);
  return found;
}

function throwIfNotConfigured(request: FetchRequest, found: string): void {
  if (request.sha256 === undefined || request.sha256 === found) return;
  throw wrongHash(hubFileName(request), { expected: request.sha256, found, by: 'the configuration' });
}

/** Reads every row, so that nothing unreadable enters the cache. Errors name the file on the hub, not the temporary one. */
async function countRows(temporary: string, request: FetchRequest): Promise<number> {
  let rows = 0;
  try {
    for await (const _ of readRows(temporary, request)) rows++;
  } catch (error) {
    if (!(error instanceof HeamsError)) throw error;
    throw error.at({ ...error.where, file: hubFileName(request) });
  }
  return rows;
}
