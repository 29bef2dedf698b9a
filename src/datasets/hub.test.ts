import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ciRow, parquetOf, putOnHub } from '../../test/support/dataset-rows.ts';
import { type LoopbackHub, type LoopbackHubOptions, startLoopbackHub } from '../../test/support/loopback-hub.ts';
import type { Clock } from '../contracts/call.ts';
import type { HeamsError } from '../lib/errors.ts';
import { type FetchRequest, fetchFromHub } from './hub.ts';

const repo = 'some-owner/some-set';
const path = 'data/train.parquet';
const token = 'hf_verySecret';
const bytes = parquetOf([ciRow(0), ciRow(1), ciRow(2)]);
const sha256 = createHash('sha256').update(bytes).digest('hex');

let folder: string;
let cacheDir: string;
let hubs: LoopbackHub[];
let waits: number[];
let clock: Clock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heams-'));
  cacheDir = join(folder, 'cache');
  hubs = [];
  waits = [];
  clock = {
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    monotonic: () => 0,
    sleep: async (ms, signal) => {
      waits.push(ms);
      signal?.throwIfAborted();
    },
  };
  await putOnHub(join(folder, 'hub'), { repo, path, bytes });
});
afterEach(async () => {
  await Promise.all(hubs.map((hub) => hub.close()));
  await rm(folder, { recursive: true });
});

async function startHub(options: Partial<LoopbackHubOptions> = {}): Promise<LoopbackHub> {
  const hub = await startLoopbackHub({ folder: join(folder, 'hub'), ...options });
  hubs.push(hub);
  return hub;
}

function request(hub: LoopbackHub, more: Partial<FetchRequest> = {}): FetchRequest {
  const { signal } = new AbortController();
  const columns = { required: ['seed', 'dataset_item'], optional: ['id'] };
  return { repo, revision: 'main', path, columns, cacheDir, signal, clock, env: { HF_ENDPOINT: hub.url }, ...more };
}

async function failure(fetched: Promise<unknown>): Promise<HeamsError> {
  return fetched.then(
    () => expect.unreachable('the file was fetched'),
    (error: HeamsError) => error,
  );
}

async function filesInCache(): Promise<string[]> {
  const entries = await readdir(cacheDir, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(cacheDir.length + 1));
}

describe('fetchFromHub', () => {
  it('downloads once, checks, and then touches no network', async () => {
    const hub = await startHub();
    const commit = await hub.commit(repo);
    const progress: number[] = [];
    const fetched = await fetchFromHub(
      request(hub, { onProgress: ({ bytes: got, total }) => progress.push(got / total) }),
    );
    expect(fetched).toEqual({
      downloaded: true,
      file: join(cacheDir, 'some-owner--some-set', commit, 'data/train.parquet'),
      manifest: {
        version: 1,
        repository: repo,
        requested_revision: 'main',
        revision: commit,
        path,
        sha256,
        bytes: bytes.length,
        rows: 3,
        fetched_at: '2026-01-02T03:04:05.000Z',
      },
    });
    expect(await readFile(fetched.file)).toEqual(bytes);
    expect(progress.at(-1)).toBe(1);
    expect((await filesInCache()).sort()).toEqual([
      `some-owner--some-set/${commit}/data/train.parquet`,
      `some-owner--some-set/${commit}/data/train.parquet.manifest.json`,
      'some-owner--some-set/main/data/train.parquet.manifest.json',
    ]);
    expect(hub.requests.map(({ step }) => step)).toEqual(['revision', 'paths', 'resolve', 'storage']);

    await hub.close();
    const again = await fetchFromHub(request(hub));
    expect(again).toEqual({ ...fetched, downloaded: false });
    const pinned = await fetchFromHub(request(hub, { revision: commit, env: { HF_HUB_OFFLINE: '1' } }));
    expect(pinned).toMatchObject({ file: fetched.file, downloaded: false });
  });

  it('checks a small file by its git hash', async () => {
    const hub = await startHub({ largeFrom: 1_000_000 });
    expect((await fetchFromHub(request(hub))).manifest.sha256).toBe(sha256);
    expect(hub.requests.map(({ step }) => step)).toEqual(['revision', 'paths', 'resolve']);
  });

  it('keeps several revisions side by side, and asks again only when told to', async () => {
    const other = parquetOf([ciRow(7)]);
    await putOnHub(join(folder, 'v2'), { repo, path, bytes: other });
    const hub = await startHub({ revisions: { 'refs/pr/2': join(folder, 'v2') } });
    const main = await fetchFromHub(request(hub));
    const second = await fetchFromHub(request(hub, { revision: 'refs/pr/2' }));
    expect([main.manifest.rows, second.manifest.rows]).toEqual([3, 1]);

    await putOnHub(join(folder, 'hub'), { repo, path, bytes: other });
    expect((await fetchFromHub(request(hub))).manifest).toEqual(main.manifest);
    const refreshed = await fetchFromHub(request(hub, { refresh: true }));
    expect(refreshed).toMatchObject({ manifest: { rows: 1, requested_revision: 'main' }, downloaded: false });
    expect(await readFile(main.file)).toEqual(bytes);
  });

  it('gives the token to the hub alone, and not to the host it redirects to', async () => {
    const hub = await startHub({ token });
    await fetchFromHub(request(hub, { env: { HF_ENDPOINT: `${hub.url}/`, HF_TOKEN: ` ${token}\n` } }));
    const sent = hub.requests.map(({ step, authorization }) => [step, authorization]);
    expect(sent).toEqual([
      ['revision', `Bearer ${token}`],
      ['paths', `Bearer ${token}`],
      ['resolve', `Bearer ${token}`],
      ['storage', undefined],
    ]);
  });

  it('may run several times at once', async () => {
    const hub = await startHub();
    const fetched = await Promise.all(Array.from({ length: 6 }, () => fetchFromHub(request(hub))));
    expect(new Set(fetched.map(({ file }) => file)).size).toBe(1);
    expect(await readFile(fetched[0]?.file ?? '')).toEqual(bytes);
    expect(await filesInCache()).toHaveLength(3);
  });

  it('waits as long as the hub asks, or a little longer each time, and then succeeds', async () => {
    const answers = [{ status: 429, headers: { 'retry-after': '7' } }, { status: 503 }, { status: 500 }];
    const hub = await startHub({
      fault: ({ step }) => {
        const answer = step === 'storage' ? answers.shift() : undefined;
        return answer && { kind: 'status', ...answer };
      },
    });
    expect((await fetchFromHub(request(hub))).downloaded).toBe(true);
    expect(waits).toEqual([7000, 1000, 2000]);
  });

  it('stops with the reason of an abort, and leaves nothing', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const hub = await startHub({
      fault: ({ step }) => {
        if (step === 'storage') controller.abort(reason);
        return undefined;
      },
    });
    await expect(fetchFromHub(request(hub, { signal: controller.signal }))).rejects.toBe(reason);
    expect(await filesInCache()).toEqual([]);
  });
});

describe('what goes wrong has an error of its own and leaves the cache as it was', () => {
  const wrong = (status: number, errorCode?: string): LoopbackHubOptions['fault'] => {
    return () => ({ kind: 'status', status, ...(errorCode === undefined ? {} : { errorCode }) });
  };
  const inStorage = (fault: ReturnType<NonNullable<LoopbackHubOptions['fault']>>): LoopbackHubOptions['fault'] => {
    return ({ step }) => (step === 'storage' ? fault : undefined);
  };
  const spoilt = Buffer.from(bytes);
  spoilt[100] = (spoilt[100] as number) ^ 1;

  it.each<[string, LoopbackHubOptions['fault'], string, RegExp]>([
    ['403', wrong(403, 'GatedRepo'), 'hub_access_denied', /some-owner\/some-set/],
    ['404 repository', wrong(404, 'RepoNotFound'), 'hub_not_found', /dataset repository "some-owner\/some-set"/],
    ['429 for good', wrong(429), 'hub_rate_limited', /status 429 after 4 attempts/],
    ['503 for good', wrong(503), 'hub_failed', /status 503 after 4 attempts/],
    ['418', wrong(418), 'hub_failed', /status 418$/m],
    [
      'a login page',
      ({ step }) => (step === 'revision' ? { kind: 'content', bytes: '<html>' } : undefined),
      'hub_bad_reply',
      /HF_ENDPOINT/,
    ],
    ['cut off', inStorage({ kind: 'cut', bytes: 500 }), 'download_cut_off', /an end after \d+ bytes/],
    [
      'too short',
      inStorage({ kind: 'content', bytes: bytes.subarray(0, 300) }),
      'download_cut_off',
      /an end after 300 bytes/,
    ],
    ['too long', inStorage({ kind: 'content', bytes: Buffer.concat([bytes, bytes]) }), 'download_too_long', /at least/],
    ['wrong hash', inStorage({ kind: 'content', bytes: spoilt }), 'dataset_wrong_hash', new RegExp(sha256)],
  ])('%s', async (_, fault, code, text) => {
    const hub = await startHub(fault === undefined ? {} : { fault });
    const error = await failure(fetchFromHub(request(hub, { env: { HF_ENDPOINT: hub.url, HF_TOKEN: token } })));
    expect(error).toMatchObject({ name: 'HeamsError', code });
    expect(error.describe()).toMatch(text);
    expect(error.describe() + JSON.stringify(error)).not.toContain(token);
    expect(await filesInCache()).toEqual([]);
  });

  it('401 names HF_TOKEN and never its value', async () => {
    const hub = await startHub({ token });
    const without = await failure(fetchFromHub(request(hub)));
    expect(without).toMatchObject({ code: 'hub_access_denied', found: 'status 401' });
    expect(without.hint).toContain('set HF_TOKEN');
    const bad = await failure(fetchFromHub(request(hub, { env: { HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_other' } })));
    expect(bad.hint).toContain('the token in HF_TOKEN');
    expect(bad.describe()).not.toContain('hf_other');
  });

  it('404 of a revision and of a file', async () => {
    const hub = await startHub();
    const revision = await failure(fetchFromHub(request(hub, { revision: 'v9' })));
    expect(revision.message).toBe('the dataset hub has no revision "v9" of some-owner/some-set');
    const file = await failure(fetchFromHub(request(hub, { path: 'data/test.parquet' })));
    expect(file.message).toBe(
      'the dataset hub has no file "data/test.parquet" in some-owner/some-set at revision "main"',
    );
    expect([revision.code, file.code]).toEqual(['hub_not_found', 'hub_not_found']);
  });

  it('a hub that is down, with nothing in the cache', async () => {
    const hub = await startHub();
    await hub.close();
    const error = await failure(fetchFromHub(request(hub)));
    expect(error.code).toBe('hub_unreachable');
    expect(error.found).toContain('ECONNREFUSED');
    expect(error.hint).toContain('HF_ENDPOINT');
    expect(await filesInCache()).toEqual([]);
  });

  it('HF_HUB_OFFLINE with nothing in the cache: no request at all', async () => {
    const hub = await startHub();
    const error = await failure(fetchFromHub(request(hub, { env: { HF_ENDPOINT: hub.url, HF_HUB_OFFLINE: 'True' } })));
    expect(error.code).toBe('hub_offline');
    expect(hub.requests).toEqual([]);
  });

  it('another content than the configuration asks for, before it is downloaded', async () => {
    const hub = await startHub();
    const error = await failure(fetchFromHub(request(hub, { sha256: 'a'.repeat(64) })));
    expect(error).toMatchObject({ code: 'dataset_wrong_hash', expected: 'a'.repeat(64), found: sha256 });
    expect(hub.requests.map(({ step }) => step)).toEqual(['revision', 'paths']);
    const small = await startHub({ largeFrom: 1_000_000 });
    expect(await failure(fetchFromHub(request(small, { sha256: 'a'.repeat(64) })))).toMatchObject({ found: sha256 });
    expect(await filesInCache()).toEqual([]);
    expect((await fetchFromHub(request(hub, { sha256 }))).downloaded).toBe(true);
  });

  it.each([
    ['no parquet', 'just text', 'dataset_not_parquet'],
    ['a missing column', parquetOf([{ seed: {} }], { columns: ['seed'] }), 'dataset_missing_column'],
    ['a bad row', parquetOf([ciRow(0), { ...ciRow(1), dataset_item: '{' }]), 'dataset_bad_json'],
    ['no rows', parquetOf([]), 'dataset_empty'],
  ])('%s, named by its place on the hub', async (_, content, code) => {
    await putOnHub(join(folder, 'hub'), { repo, path, bytes: content });
    const error = await failure(fetchFromHub(request(await startHub())));
    expect(error).toMatchObject({ code, where: { file: `${repo}, revision main, ${path}` } });
    expect(await filesInCache()).toEqual([]);
  });

  it('a cached file that was changed is named, kept, and fetched again only when told to', async () => {
    const hub = await startHub();
    const { file } = await fetchFromHub(request(hub));
    await writeFile(file, 'my edits');
    const error = await failure(fetchFromHub(request(hub)));
    expect(error).toMatchObject({ code: 'dataset_cache_changed', where: { file }, expected: `sha256 ${sha256}` });
    expect(error.hint).toContain('heams data fetch --refresh');
    expect(await readFile(file, 'utf8')).toBe('my edits');
    expect((await fetchFromHub(request(hub, { refresh: true }))).downloaded).toBe(true);
    expect(await readFile(file)).toEqual(bytes);
  });

  it('a manifest that is torn or belongs to another file vouches for nothing', async () => {
    const hub = await startHub();
    await fetchFromHub(request(hub));
    const manifest = join(cacheDir, 'some-owner--some-set/main/data/train.parquet.manifest.json');
    await writeFile(manifest, '{"version": 1, "repo');
    expect(await failure(fetchFromHub(request(hub, { env: { HF_HUB_OFFLINE: '1' } })))).toMatchObject({
      code: 'hub_offline',
    });
    expect((await fetchFromHub(request(hub))).downloaded).toBe(false);
    expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({ rows: 3 });
  });

  it('a cache folder that cannot be written', async () => {
    const hub = await startHub();
    await writeFile(join(folder, 'a-file'), '');
    const error = await failure(fetchFromHub(request(hub, { cacheDir: join(folder, 'a-file') })));
    expect(error).toMatchObject({ code: 'dataset_cache_unwritable', where: { file: join(folder, 'a-file') } });
  });

  it.each([
    [{ HF_ENDPOINT: 'hub.example.org' }, 'env_bad_endpoint'],
    [{ HF_ENDPOINT: 'https://me:secretword@hub.example.org' }, 'env_bad_endpoint'],
    [{ HF_TOKEN: 'hf_secret\nword' }, 'env_bad_token'],
  ])('the environment %j', async (env, code) => {
    const error = await failure(fetchFromHub(request(await startHub(), { env })));
    expect(error.code).toBe(code);
    expect(error.describe()).not.toMatch(/secret/);
  });

  it.each(['../secret.parquet', '/etc/passwd', 'data//x', 'a\\b'])(
    'a path that leads out of the repository: %s',
    async (bad) => {
      expect(await failure(fetchFromHub(request(await startHub(), { path: bad })))).toMatchObject({
        code: 'dataset_bad_path',
      });
    },
  );

  it('a revision that would lead out of the cache is only a strange name', async () => {
    const error = await failure(fetchFromHub(request(await startHub(), { revision: '..' })));
    expect(error.name).toBe('HeamsError');
    expect(await filesInCache()).toEqual([]);
  });
});
