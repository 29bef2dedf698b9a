import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { type DatasetManifest, datasetManifestSchema } from '../schema/dataset-manifest.ts';
import { sha256OfFile } from './file-hash.ts';
import { cacheChanged, type HubFile } from './hub-errors.ts';
import { writeWhole } from './write-whole.ts';

export interface CacheRequest extends HubFile {
  /** Refuse any other content. 64 hex digits. */
  sha256?: string;
  cacheDir: string;
  signal: AbortSignal;
}

export interface CachedFile {
  file: string;
  manifest: DatasetManifest;
}

/**
 * The file from the cache, or nothing where it was never fetched or is not the one with the configured hash. Touches no
 * network. A file that changed after it was fetched is an error (`dataset_cache_changed`): it may hold someone's edits,
 * and results from it would carry the wrong revision.
 */
export async function findCached(request: CacheRequest): Promise<CachedFile | undefined> {
  const manifest = await readManifest(request);
  if (!manifest || (request.sha256 !== undefined && manifest.sha256 !== request.sha256)) return undefined;
  const file = cachedFilePath(request, manifest.revision);
  if (!(await exists(file))) return undefined;
  const found = await sha256OfFile(file, request.signal);
  if (found !== manifest.sha256) throw cacheChanged(file, { expected: manifest.sha256, found });
  return { file, manifest };
}

/** Where the file of a commit lies; it never changes there. */
export function cachedFilePath(request: CacheRequest, commit: string): string {
  return join(folderOf(request), commit, ...pathParts(request.path));
}

export async function writeManifest(request: CacheRequest, manifest: DatasetManifest): Promise<void> {
  const target = manifestPath(request, manifest.requested_revision);
  await writeWhole(target, (temporary) => writeFile(temporary, `${JSON.stringify(manifest, null, 2)}\n`));
}

/** Runs what writes to the cache, and says so where the disk is full or the folder may not be written. */
export async function inCache<T>(cacheDir: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new HeamsError('cannot write to the dataset cache', {
      code: 'dataset_cache_unwritable',
      where: { file: cacheDir },
      found: messageOf(error),
      hint: 'make room or the folder writable, or run in another folder',
      cause: error,
    });
  }
}

/** A manifest that cannot be read, or that is about something else, vouches for nothing. */
async function readManifest(request: CacheRequest): Promise<DatasetManifest | undefined> {
  const path = manifestPath(request, request.revision);
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
  const { success, data } = datasetManifestSchema.safeParse(parsed);
  const fits =
    success &&
    data.repository === request.repo &&
    data.requested_revision === request.revision &&
    data.path === request.path;
  return fits ? data : undefined;
}

function manifestPath(request: CacheRequest, revision: string): string {
  const parts = pathParts(request.path);
  const name = `${parts.pop()}.manifest.json`;
  return join(folderOf(request), folderName(revision), ...parts, name);
}

function folderOf(request: CacheRequest): string {
  return join(request.cacheDir, folderName(request.repo.replace('/', '--')));
}

/** A revision such as `refs/pr/1` as one folder; `..` does not lead out of the cache. */
function folderName(name: string): string {
  return encodeURIComponent(name).replace(/^\./, '%2E').replaceAll('*', '%2A');
}

function pathParts(path: string): string[] {
  const parts = path.split('/');
  if (!parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\\'))) return parts;
  throw new HeamsError('the path is not one inside a dataset repository', {
    code: 'dataset_bad_path',
    expected: 'a path such as data/train-00000-of-00001.parquet',
    found: path,
  });
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
