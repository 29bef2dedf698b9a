import type { Clock } from '../contracts/call.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import { type HubFile, hubBadReply, hubFailed, hubForbidden, hubNotFound, hubUnreachable } from './hub-errors.ts';

export interface HubClientOptions {
  file: HubFile;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  clock: Clock;
}

/** What the hub says about a file: its length, and the hash that its content must have. */
export interface HubFileInfo {
  bytes: number;
  /** `sha256` of the content for a large file; for a small one git's own, sha1 of `blob <bytes>\0` and the content. */
  hash: { kind: 'sha256' | 'git_sha1'; hex: string };
}

export interface HubClient {
  /** The commit that the revision stands for now. */
  commit(): Promise<string>;
  info(commit: string): Promise<HubFileInfo>;
  /** The content, as a reply whose body is still to be read. */
  open(commit: string): Promise<Response>;
}

const defaultHub = 'https://huggingface.co';
/** Waits before the second, third and fourth attempt where the hub does not say how long, in milliseconds. */
const waits = [500, 1000, 2000];
const longestWait = 30_000;

/** The hub for one file. It honours HF_ENDPOINT and HF_TOKEN; the token goes to the hub's own address alone. */
export function hubClient(options: HubClientOptions): HubClient {
  const { file } = options;
  const hubUrl = endpoint(options.env);
  const call = hubFetch(hubUrl, options);
  const host = new URL(hubUrl).host;

  return {
    async commit() {
      const { datasetInfo } = await import('@huggingface/hub');
      const entry = await answered(host, options.signal, () =>
        datasetInfo({ name: file.repo, revision: file.revision, additionalFields: ['sha'], hubUrl, fetch: call }),
      );
      if (!/^[0-9a-f]{40}$/.test(entry.sha ?? '')) throw hubBadReply(host, 'no commit for the revision');
      return entry.sha as string;
    },

    async info(commit) {
      const { pathsInfo } = await import('@huggingface/hub');
      const entries = await answered(host, options.signal, () =>
        pathsInfo({
          repo: { type: 'dataset', name: file.repo },
          paths: [file.path],
          revision: commit,
          hubUrl,
          fetch: call,
        }),
      );
      const entry = entries.find(({ path, type }) => path === file.path && type === 'file');
      if (!entry) throw hubNotFound(file, 'EntryNotFound');
      if (entry.lfs) return { bytes: entry.lfs.size, hash: { kind: 'sha256', hex: entry.lfs.oid } };
      if (entry.oid) return { bytes: entry.size, hash: { kind: 'git_sha1', hex: entry.oid } };
      throw hubBadReply(host, 'no hash for the file');
    },

    // The client's own download keeps the error of a failed request to itself, and would ask for the size once more.
    open(commit) {
      const path = file.path.split('/').map(encodeURIComponent).join('/');
      return call(`${hubUrl}/datasets/${file.repo}/resolve/${commit}/${path}`);
    },
  };
}

/** A `fetch` with the token, the abort signal and a few retries, that turns every failure into a `HeamsError`. */
function hubFetch(hubUrl: string, { file, env, signal, clock }: HubClientOptions): typeof fetch {
  const { host, origin } = new URL(hubUrl);
  const token = accessToken(env);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    // `fetch` drops this header when a redirect leads to another host, such as the one that stores large files.
    if (token !== undefined && url.origin === origin) headers.set('authorization', `Bearer ${token}`);
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const response = await fetch(url, { ...init, headers, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw hubUnreachable(host, error);
      });
      if (response.ok) return response;
      await response.body?.cancel();
      const { status } = response;
      if (status === 401 || status === 403) throw hubForbidden(file, status, token !== undefined);
      if (status === 404) throw hubNotFound(file, response.headers.get('x-error-code') ?? undefined);
      const wait = waits[attempt - 1];
      if (wait === undefined || (status !== 429 && status < 500)) throw hubFailed(host, status, attempt);
      await clock.sleep(retryAfter(response, clock) ?? wait, signal);
    }
  };
}

/** What the client makes of a reply that is not the hub's is an error of its own kind, or a syntax error. */
async function answered<T>(host: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HeamsError) throw error;
    throw hubBadReply(host, messageOf(error), error);
  }
}

/** How long the hub asks to be left alone, as far as a download can wait. */
function retryAfter(response: Response, clock: Clock): number | undefined {
  const ms = retryAfterMs(Object.fromEntries(response.headers), clock.now());
  return ms === undefined ? undefined : Math.min(longestWait, ms);
}

function endpoint(env: HubClientOptions['env']): string {
  const configured = env.HF_ENDPOINT?.trim();
  if (!configured) return defaultHub;
  const url = URL.canParse(configured) ? new URL(configured) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  const hasLogin = configured.includes('@');
  if (isWeb && !hasLogin) return configured.replace(/\/+$/, '');
  throw new HeamsError('HF_ENDPOINT is not the address of a hub', {
    code: 'env_bad_endpoint',
    expected: 'an address such as https://hub.example.org',
    // A password in an address must not be printed.
    found: hasLogin ? 'an address with "@"' : configured,
    hint: 'a token belongs into HF_TOKEN',
  });
}

function accessToken(env: HubClientOptions['env']): string | undefined {
  const token = env.HF_TOKEN?.trim();
  if (!token) return undefined;
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new HeamsError('HF_TOKEN holds characters that no token has', {
    code: 'env_bad_token',
    expected: 'letters, digits and "_"',
    hint: 'copy the token again, without quotes or line breaks inside',
  });
}

/** HF_HUB_OFFLINE, read as the hub's own tools read it. */
export function isOffline(env: HubClientOptions['env']): boolean {
  return ['1', 'on', 'yes', 'true'].includes(env.HF_HUB_OFFLINE?.trim().toLowerCase() ?? '');
}
