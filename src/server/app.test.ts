import { describe, expect, it } from 'vitest';
import { fakeDone } from '../../test/support/fake-records.ts';
import { addRecords, ciViews } from '../../test/support/results-folder.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { viewerApp } from './app.ts';
import { LabelFile } from './label-file.ts';
import { ResultsIndex } from './results-index.ts';
import { ServerView } from './server-view.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const HOST = '127.0.0.1:4000';

async function appOf() {
  const dir = await tempFolder();
  await addRecords(dir, [fakeDone({ experiment: 'a', id: 's1', secrets: ['yes'] })]);
  const index = await ResultsIndex.open(dir, ciViews);
  await index.refresh();
  const labels = await LabelFile.open(`${dir}/run`);
  const shared = { index, labels, clock: { now: () => 0 }, live: true, compare: () => Promise.reject(new Error('no')) };
  const page = { type: 'text/html; charset=utf-8', body: Buffer.from('<!doctype html>') };
  const app = viewerApp({
    index,
    plain: new ServerView({ ...shared, mask: false }),
    masked: new ServerView({ ...shared, mask: true }),
    token: TOKEN,
    hosts: new Set([HOST, 'localhost:4000']),
    assets: new Map([['index.html', page]]),
  });
  return (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
    app.request(`http://${HOST}${path}`, { ...init, headers: { host: HOST, ...init.headers } });
}

describe('the viewer’s server', () => {
  it('gives the page and its data to who knows the token', async () => {
    const get = await appOf();
    const page = await get(`/${TOKEN}/`);
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<!doctype html>',
    ]);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect((await (await get(`/${TOKEN}/api/rows?q=leaked%3Dyes`)).json()) as object).toMatchObject({ matched: 1 });
    expect((await (await get(`/${TOKEN}/api/seek?flag=leaked&from=0&step=1`)).json()) as object).toEqual({
      position: 0,
    });
  });

  it('gives nothing to who does not', async () => {
    const get = await appOf();
    for (const path of ['/', '/api/overview', '/wrong/', '/wrong/api/overview', `/${TOKEN.slice(1)}0/api/rows`]) {
      expect((await get(path)).status, path).toBeGreaterThanOrEqual(403);
    }
  });

  it('answers no other name, no other page and no other site', async () => {
    const get = await appOf();
    const path = `/${TOKEN}/api/overview`;
    const status = async (headers: Record<string, string>) => (await get(path, { headers })).status;
    expect(await status({ host: 'evil.example:4000' })).toBe(403);
    expect(await status({ host: '127.0.0.1:4001' })).toBe(403);
    expect(await status({ origin: 'http://evil.example' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' })).toBe(403);
    expect(await status({ host: 'localhost:4000', origin: 'http://localhost:4000' })).toBe(200);
    const page = await get(`/${TOKEN}/`, { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } });
    expect(page.status).toBe(200);
  });

  it('has no way to any file but the page’s', async () => {
    const get = await appOf();
    for (const path of [
      '../package.json',
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e/%2e%2e/etc/passwd',
      'runs.jsonl',
      '.env',
    ]) {
      const answer = await get(`/${TOKEN}/${path}`);
      expect(answer.status, path).toBeGreaterThanOrEqual(403);
      expect(await answer.text()).not.toMatch(/root:|heams"|HEAMS_/);
    }
  });

  it('says what is wrong with a question, and stays up', async () => {
    const get = await appOf();
    const missing = await get(`/${TOKEN}/api/samples/99`);
    expect([missing.status, await missing.json()]).toEqual([400, { error: 'there is no row 99' }]);
    expect((await get(`/${TOKEN}/api/seek?flag=x`)).status).toBe(400);
    const post = (body: string, type = 'application/json') =>
      get(`/${TOKEN}/api/labels`, { method: 'POST', body, headers: { 'content-type': type } });
    expect((await post('{')).status).toBe(400);
    expect((await post('{}')).status).toBe(400);
    expect((await post('{}', 'text/plain')).status).toBe(415);
    const label = { experiment: 'a', sample_id: 's1', repeat: 0, item: 'secret:secret_0', label: 'yes', rater: 'me' };
    expect((await post(JSON.stringify(label))).status).toBe(200);
  });
});
