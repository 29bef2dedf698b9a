import { HeamsError, messageOf } from '../lib/errors.ts';

/** A file in a dataset repository of the hub. */
export interface HubFile {
  repo: string;
  revision: string;
  path: string;
}

/** How messages name a file of the hub. */
export const hubFileName = (file: HubFile): string => `${file.repo}, revision ${file.revision}, ${file.path}`;

/** What a user can do without the hub. */
const ownFile =
  'use a local copy with "dataset: {file: ...}" or the bundled scenarios with "dataset: {bundled: heams_scenarios}"';

export function hubUnreachable(host: string, cause: unknown): HeamsError {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  return new HeamsError(`cannot reach the dataset hub at ${host}`, {
    code: 'hub_unreachable',
    found: messageOf(inner) || messageOf(cause),
    hint: `the hub is needed once, to fill the cache: check the connection, set HF_ENDPOINT to a mirror, or ${ownFile}`,
    cause,
  });
}

export function hubOffline(file: HubFile): HeamsError {
  return new HeamsError(`HF_HUB_OFFLINE is set, and the dataset is not in the cache: ${hubFileName(file)}`, {
    code: 'hub_offline',
    hint: `unset HF_HUB_OFFLINE and run "heams data fetch" once, or ${ownFile}`,
  });
}

/** 401 and 403. The hub answers 401 for a repository that is not there, too, so as not to tell which ones exist. */
export function hubForbidden(file: HubFile, status: number, hasToken: boolean): HeamsError {
  return new HeamsError(`the dataset hub refuses access to ${file.repo}`, {
    code: 'hub_access_denied',
    found: `status ${status}`,
    hint: hasToken
      ? 'check the name of the repository, and that the token in HF_TOKEN is valid and may read it (a gated dataset: accept its terms on its page)'
      : 'check the name of the repository; if it is private or gated, set HF_TOKEN to a token that may read it',
  });
}

/** 404. `what` is the hub's own word for it, where it gives one. */
export function hubNotFound(file: HubFile, what: string | undefined): HeamsError {
  const missing =
    what === 'RevisionNotFound'
      ? `revision "${file.revision}" of ${file.repo}`
      : what === 'EntryNotFound'
        ? `file "${file.path}" in ${file.repo} at revision "${file.revision}"`
        : `dataset repository "${file.repo}"`;
  return new HeamsError(`the dataset hub has no ${missing}`, {
    code: 'hub_not_found',
    hint: `check hub, revision and path of the dataset in the benchmark file${what === undefined ? ', and HF_ENDPOINT if it is set' : ''}`,
  });
}

/** 429 and 5xx, after the retries; and any other status that is not a success. */
export function hubFailed(host: string, status: number, attempts: number): HeamsError {
  return new HeamsError(`the dataset hub at ${host} answers with an error`, {
    code: status === 429 ? 'hub_rate_limited' : 'hub_failed',
    found: `status ${status}${attempts > 1 ? ` after ${attempts} attempts` : ''}`,
    hint: status === 429 ? 'wait a few minutes and run the same command again' : 'run the same command again later',
  });
}

export function hubBadReply(host: string, found: string, cause?: unknown): HeamsError {
  return new HeamsError(`${host} does not answer as a dataset hub does`, {
    code: 'hub_bad_reply',
    found,
    hint: 'check HF_ENDPOINT, and that no proxy or login page stands in between',
    ...(cause === undefined ? {} : { cause }),
  });
}

export function wrongLength(file: HubFile, bytes: { expected: number; received: number }, cause?: unknown): HeamsError {
  const isShort = bytes.received < bytes.expected;
  const problem = isShort ? 'was cut off' : 'is longer than the hub says';
  return new HeamsError(`the download ${problem}: ${hubFileName(file)}`, {
    code: isShort ? 'download_cut_off' : 'download_too_long',
    expected: `${bytes.expected} bytes`,
    found: isShort ? `an end after ${bytes.received} bytes were read` : `at least ${bytes.received} bytes`,
    hint: 'nothing was kept: run the same command again',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `by`: whose hash it is that the content does not have. */
export function wrongHash(name: string, hashes: { expected: string; found: string; by: string }): HeamsError {
  return new HeamsError(`the content is not what ${hashes.by} says: ${name}`, {
    code: 'dataset_wrong_hash',
    expected: hashes.expected,
    found: hashes.found,
    hint:
      hashes.by === 'the hub'
        ? 'nothing was kept: run the same command again; if it stays so, something on the way changes the file'
        : 'correct the sha256 in the benchmark file, or pin the revision that it belongs to',
  });
}

export function cacheChanged(file: string, hashes: { expected: string; found: string }): HeamsError {
  return new HeamsError('the cached dataset file has been changed since it was fetched', {
    code: 'dataset_cache_changed',
    where: { file },
    expected: `sha256 ${hashes.expected}`,
    found: `sha256 ${hashes.found}`,
    hint: 'run "heams data fetch --refresh" to fetch it again; to use your own rows, copy the file and name it with "dataset: {file: ...}"',
  });
}
