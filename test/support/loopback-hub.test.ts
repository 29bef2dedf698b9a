import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { datasetInfo, downloadFile, fileDownloadInfo, pathsInfo } from '@huggingface/hub';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putOnHub } from './dataset-rows.ts';
import { type LoopbackHub, startLoopbackHub } from './loopback-hub.ts';

const repo = { type: 'dataset', name: 'owner/set' } as const;
const large = 'x'.repeat(5000);
let folder: string;
let hub: LoopbackHub;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heams-'));
  await putOnHub(folder, { repo: repo.name, path: 'data/large.bin', bytes: large });
  await putOnHub(folder, { repo: repo.name, path: 'README.md', bytes: 'small' });
  hub = await startLoopbackHub({ folder, largeFrom: 1000 });
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true });
});

describe('the loopback hub, met by the real client', () => {
  const at = () => ({ repo, hubUrl: hub.url });

  it('resolves a revision to its commit', async () => {
    const info = await datasetInfo({ name: repo.name, hubUrl: hub.url, revision: 'main', additionalFields: ['sha'] });
    expect(info).toMatchObject({ name: 'owner/set', sha: await hub.commit(repo.name) });
  });

  it('tells size and hash of large and small files', async () => {
    const infos = await pathsInfo({ ...at(), paths: ['README.md', 'data/large.bin', 'absent'] });
    expect(infos.map(({ path, size }) => [path, size])).toEqual([
      ['README.md', 5],
      ['data/large.bin', 5000],
    ]);
    expect(infos[0]?.oid).toBe(createHash('sha1').update('blob 5\0small').digest('hex'));
    expect(infos[1]?.lfs?.oid).toBe(createHash('sha256').update(large).digest('hex'));
  });

  it('serves a range, as the client asks for one to learn the size', async () => {
    expect(await fileDownloadInfo({ ...at(), path: 'data/large.bin' })).toMatchObject({ size: 5000 });
    const blob = await downloadFile({ ...at(), path: 'data/large.bin', revision: await hub.commit(repo.name) });
    expect(await blob?.slice(10, 20).text()).toBe('x'.repeat(10));
  });

  it.each([
    ['README.md', 'small'],
    ['data/large.bin', large],
  ])('serves %s whole', async (path, text) => {
    expect(await (await downloadFile({ ...at(), path }))?.text()).toBe(text);
  });

  it('has the errors of the public hub', async () => {
    expect(await downloadFile({ ...at(), path: 'absent' })).toBeNull();
    const other = { type: 'dataset', name: 'owner/other' } as const;
    await expect(downloadFile({ ...at(), repo: other, path: 'x' })).rejects.toMatchObject({ statusCode: 401 });
    await expect(downloadFile({ ...at(), path: 'README.md', revision: 'v9' })).rejects.toMatchObject({
      statusCode: 404,
    });
  });
});
