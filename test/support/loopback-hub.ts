import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** What a request asks for: the commit of a revision, the hash of a file, a file, or its bytes from the storage host. */
export type HubStep = 'revision' | 'paths' | 'resolve' | 'storage';

export interface HubRequestSeen {
  step: HubStep | 'unknown';
  method: string;
  url: string;
  authorization: string | undefined;
}

/** What goes wrong with one request. */
export type HubFault =
  | { kind: 'status'; status: number; errorCode?: string; headers?: Record<string, string>; body?: string }
  /** The length is announced, and the connection ends after `bytes`. */
  | { kind: 'cut'; bytes: number }
  /** Other content than the file's, sent as if it were the file. */
  | { kind: 'content'; bytes: Uint8Array | string };

export interface LoopbackHubOptions {
  /** Holds `datasets/<owner>/<name>/<path>`; the content of revision `main`. */
  folder: string;
  /** Further revisions by name, each with a folder of its own. */
  revisions?: Readonly<Record<string, string>>;
  /** Every repository is private, and this token alone may read it. */
  token?: string;
  /** Files of this size and more are kept as large files: redirected to the storage host, with a sha256. */
  largeFrom?: number;
  /** Called for each request; what it returns goes wrong. */
  fault?(request: HubRequestSeen): HubFault | undefined;
}

export interface LoopbackHub {
  /** For HF_ENDPOINT. */
  url: string;
  requests: HubRequestSeen[];
  /** The commit that a revision of a repository stands for. */
  commit(repo: string, revision?: string): Promise<string>;
  close(): Promise<void>;
}

interface StoredFile {
  path: string;
  bytes: Buffer;
}

/**
 * A dataset hub on loopback that answers the real client as the public hub does: resolves revisions to commits, tells
 * sizes and hashes, redirects large files to a storage host on another port, serves ranges, and names its errors in
 * `X-Error-Code`. As on the public hub, a repository that is not there is a 401.
 */
export async function startLoopbackHub(options: LoopbackHubOptions): Promise<LoopbackHub> {
  const requests: HubRequestSeen[] = [];
  const listen = async (answer: (exchange: Exchange) => Promise<void>) => {
    const server = createServer((request, response) => {
      const seen = describeRequest(request);
      requests.push(seen);
      const exchange = { request, response, seen, fault: options.fault?.(seen) };
      answer(exchange).catch((error: unknown) => response.destroy(error as Error));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  const storage = await listen(async (exchange) => {
    const [, , folder, path] = exchange.seen.url.split('/').map(decodeURIComponent);
    const bytes = await readFile(join(folder as string, path as string));
    sendFile(exchange, bytes, { etag: `"${md5(bytes)}"` });
  });
  const hub = await listen((exchange) => answerHub(exchange, options, storage.url));
  return {
    url: hub.url,
    requests,
    commit: async (repo, revision = 'main') => commitOf(repo, await filesOf(folderOf(options, revision) ?? '', repo)),
    close: async () => {
      await Promise.all([hub.server, storage.server].map(closed));
    },
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  seen: HubRequestSeen;
  fault: HubFault | undefined;
}

function describeRequest(request: IncomingMessage): HubRequestSeen {
  const url = request.url ?? '/';
  const step = url.startsWith('/storage/')
    ? 'storage'
    : /^\/api\/datasets\/[^/]+\/[^/]+\/revision\//.test(url)
      ? 'revision'
      : /^\/api\/datasets\/[^/]+\/[^/]+\/paths-info\//.test(url)
        ? 'paths'
        : /^\/datasets\/[^/]+\/[^/]+\/resolve\//.test(url)
          ? 'resolve'
          : 'unknown';
  return { step, method: request.method ?? 'GET', url, authorization: request.headers.authorization };
}

async function answerHub(exchange: Exchange, options: LoopbackHubOptions, storageUrl: string): Promise<void> {
  const { seen, response, fault } = exchange;
  if (fault?.kind === 'status') return sendError(response, fault.status, fault.errorCode, fault);
  const { pathname } = new URL(seen.url, 'http://hub');
  const parts = pathname.split('/').map(decodeURIComponent);
  const [owner, name, , revision = '', ...path] = parts.slice(seen.step === 'resolve' ? 2 : 3);
  const repo = `${owner}/${name}`;

  if (options.token !== undefined && seen.authorization !== `Bearer ${options.token}`) {
    return sendError(response, 401, 'RepoNotFound');
  }
  const known = await filesOf(options.folder, repo);
  if (seen.step === 'unknown' || known.length === 0) return sendError(response, 401, 'RepoNotFound');
  const found = await findRevision(options, repo, revision);
  if (!found) return sendError(response, 404, 'RevisionNotFound');
  const large = (file: StoredFile) => file.bytes.length >= (options.largeFrom ?? 0);

  if (seen.step === 'revision') {
    return sendJson(exchange, {
      _id: '0',
      id: repo,
      sha: found.commit,
      private: false,
      gated: false,
      downloads: 0,
      likes: 0,
    });
  }
  if (seen.step === 'paths') {
    const { paths } = JSON.parse(await bodyOf(exchange.request)) as { paths: string[] };
    const files = found.files.filter((file) => paths.includes(file.path));
    return sendJson(
      exchange,
      files.map((file) => pathInfo(file, large(file))),
    );
  }
  const file = found.files.find((each) => each.path === path.join('/'));
  if (!file) return sendError(response, 404, 'EntryNotFound');
  response.setHeader('x-repo-commit', found.commit);
  if (!large(file)) return sendFile(exchange, file.bytes, { etag: `"${gitSha1(file.bytes)}"` });
  response.writeHead(302, {
    location: `${storageUrl}/storage/${encodeURIComponent(found.folder)}/${encodeURIComponent(`datasets/${repo}/${file.path}`)}`,
    'x-linked-size': file.bytes.length,
    'x-linked-etag': `"${sha256(file.bytes)}"`,
    etag: `"${gitSha1(Buffer.from(pointer(file.bytes)))}"`,
  });
  response.end();
}

async function findRevision(options: LoopbackHubOptions, repo: string, revision: string) {
  for (const name of ['main', ...Object.keys(options.revisions ?? {})]) {
    const folder = folderOf(options, name) as string;
    const files = await filesOf(folder, repo);
    const commit = commitOf(repo, files);
    if (revision === name || revision === commit) return { folder, files, commit };
  }
  return undefined;
}

function folderOf(options: LoopbackHubOptions, revision: string): string | undefined {
  return revision === 'main' ? options.folder : options.revisions?.[revision];
}

async function filesOf(folder: string, repo: string): Promise<StoredFile[]> {
  const root = join(folder, 'datasets', repo);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (file: string) => ({ path: file.slice(root.length + 1), bytes: await readFile(file) });
  return Promise.all(files.sort().map(read));
}

/** Stands for the commit: 40 hex digits that change with the content. */
function commitOf(repo: string, files: readonly StoredFile[]): string {
  const tree = files.map((file) => `${file.path} ${gitSha1(file.bytes)}`).join('\n');
  return createHash('sha1').update(`${repo}\n${tree}`).digest('hex');
}

function pathInfo({ path, bytes }: StoredFile, large: boolean) {
  if (!large) return { type: 'file', path, size: bytes.length, oid: gitSha1(bytes) };
  const text = pointer(bytes);
  const lfs = { oid: sha256(bytes), size: bytes.length, pointerSize: text.length };
  return { type: 'file', path, size: bytes.length, oid: gitSha1(Buffer.from(text)), lfs };
}

function sendFile(exchange: Exchange, content: Buffer, headers: Record<string, string>): void {
  const { request, response, fault } = exchange;
  if (fault?.kind === 'status') {
    sendError(response, fault.status, fault.errorCode, fault);
    return;
  }
  const bytes = fault?.kind === 'content' ? Buffer.from(fault.bytes) : content;
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = range?.[2] ? Math.min(Number(range[2]) + 1, bytes.length) : bytes.length;
  if (range) response.setHeader('content-range', `bytes ${start}-${end - 1}/${bytes.length}`);
  const length = {
    'content-length': end - start,
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
  };
  response.writeHead(range ? 206 : 200, { ...headers, ...length });
  if (fault?.kind === 'cut') response.write(bytes.subarray(start, start + fault.bytes), () => response.destroy());
  else response.end(bytes.subarray(start, end));
}

function sendJson({ response, fault }: Exchange, value: unknown): void {
  response.setHeader('content-type', fault?.kind === 'content' ? 'text/html' : 'application/json');
  response.end(fault?.kind === 'content' ? fault.bytes : JSON.stringify(value));
}

const errorTexts: Readonly<Record<string, string>> = {
  RepoNotFound: 'Invalid username or password.',
  RevisionNotFound: 'Invalid rev id',
  EntryNotFound: 'Entry not found',
  GatedRepo: 'Access to this dataset is restricted.',
};

function sendError(
  response: ServerResponse,
  status: number,
  errorCode: string | undefined,
  extra: { headers?: Record<string, string>; body?: string } = {},
): void {
  const text = errorTexts[errorCode ?? ''] ?? 'Internal error';
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    ...(errorCode === undefined ? {} : { 'x-error-code': errorCode, 'x-error-message': text }),
    ...extra.headers,
  });
  response.end(extra.body ?? JSON.stringify({ error: text }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

const pointer = (bytes: Buffer) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(bytes)}\nsize ${bytes.length}\n`;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const gitSha1 = (bytes: Buffer) => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
