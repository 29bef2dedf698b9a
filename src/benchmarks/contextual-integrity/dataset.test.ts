import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ciRow, parquetOf } from '../../../test/support/dataset-rows.ts';
import { startLoopbackHub } from '../../../test/support/loopback-hub.ts';
import { sharedData } from '../../../test/support/shared-data.ts';
import { systemClock } from '../../lib/clock.ts';
import type { HeamsError } from '../../lib/errors.ts';
import { type CiDatasetConfig, ciDatasetSchema } from '../../schema/contextual-integrity.ts';
import { type CiDatasetContext, loadCiSamples } from './dataset.ts';
import { describeSamples } from './describe-samples.ts';

let folder: string;
let context: CiDatasetContext;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heams-'));
  context = {
    seed: 0,
    resolve: (path) => join(folder, path),
    env: {},
    cacheDir: join(folder, 'cache'),
    bundledDir: join(folder, 'bundled'),
    signal: new AbortController().signal,
    clock: systemClock,
  };
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content);
  return createHash('sha256').update(content).digest('hex');
}

const jsonl = (...rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const load = (config: CiDatasetConfig) => loadCiSamples(config, context);
const failure = async (config: CiDatasetConfig): Promise<HeamsError> =>
  load(config).then(
    () => expect.unreachable('the dataset was loaded'),
    (error: HeamsError) => error,
  );

describe('loadCiSamples', () => {
  it('loads a file of the user’s own, in any format, to the same samples', async () => {
    const rows = [ciRow(0), ciRow(1)];
    const sha256 = await put('own.jsonl', jsonl(...rows));
    await put('own.json', JSON.stringify(rows));
    await put('own.parquet', parquetOf(rows));
    const { samples, source } = await load({ file: 'own.jsonl', sha256 });
    expect(samples.map(({ id, task }) => [id, task])).toEqual([
      ['ci-0000', 'Book room 0.'],
      ['ci-0001', 'Book room 1.'],
    ]);
    expect(source).toEqual({ kind: 'file', file: 'own.jsonl', sha256, samples: 2 });
    for (const file of ['own.json', 'own.parquet']) expect((await load({ file })).samples).toEqual(samples);
  });

  it('takes the first rows up to a limit, and does not look at those behind it', async () => {
    await put('limit.jsonl', `${jsonl(ciRow(0), ciRow(1))}not json\n`);
    expect((await load({ file: 'limit.jsonl', limit: 1 })).samples.map(({ id }) => id)).toEqual(['ci-0000']);
    expect(await failure({ file: 'limit.jsonl', limit: 3 })).toMatchObject({ code: 'dataset_bad_json' });
  });

  it('makes a haystack of every row, also of those behind a limit', async () => {
    const row = (n: number, information: Record<string, string>) => {
      const annotation = { allowed: { ...information }, disallowed: {} };
      return { ...ciRow(n), dataset_item: { ...ciRow(n).dataset_item, information, annotation } };
    };
    const rows = [row(0, { City: 'Oslo' }), row(1, { Job: 'baker' }), row(2, { Hobby: 'rowing', Car: 'none' })];
    await put('haystack.jsonl', jsonl(...rows));
    const pools = async (limit: number, haystack: number, sessions = 0) =>
      loadCiSamples({ file: 'haystack.jsonl', limit }, context, { haystack, sessions });
    const { samples, source } = await pools(1, 3, 2);
    expect(samples.map(({ id }) => id)).toEqual(['ci-0000']);
    expect(samples[0]?.facts.map(({ key }) => key).sort()).toEqual(['Car', 'City', 'Hobby', 'Job']);
    expect(new Set(samples[0]?.facts.map(({ session }) => session))).toEqual(new Set(['s1', 's2']));
    expect(source).toMatchObject({ samples: 1, haystack: 3, sessions: 2 });
    expect((await pools(3, 1, 2)).samples[0]?.facts).not.toEqual(samples[0]?.facts);
    expect((await pools(2, 2)).samples).toEqual((await pools(3, 2)).samples.slice(0, 2));
    await expect(pools(1, 4)).rejects.toMatchObject({ code: 'haystack_too_small', found: '3' });
    // A bad row behind the limit would be missing from the haystack without a word.
    await put('haystack-bad.jsonl', `${jsonl(...rows)}not json\n`);
    const bad = loadCiSamples({ file: 'haystack-bad.jsonl', limit: 1 }, context, { haystack: 1 });
    await expect(bad).rejects.toMatchObject({ code: 'dataset_bad_json' });
  });

  it('loads the bundled scenarios', async () => {
    await mkdir(join(folder, 'bundled'));
    const sha256 = await put('bundled/scenarios.jsonl', jsonl({ id: 'hospitality-01', ...ciRow() }));
    const { samples, source } = await load({ bundled: 'heams_scenarios' });
    expect(samples[0]?.id).toBe('hospitality-01');
    expect(source).toEqual({ kind: 'bundled', name: 'heams_scenarios', sha256, samples: 1 });
  });

  it('refuses duplicate ids, its own among them', async () => {
    await put('twice.jsonl', jsonl({ ...ciRow(0), id: 'ci-0001' }, ciRow(1)));
    expect(await failure({ file: 'twice.jsonl' })).toMatchObject({
      code: 'dataset_duplicate_id',
      found: '"ci-0001" in rows 0 and 1',
      where: { line: 2 },
    });
  });

  it('refuses a file with another hash, a folder, and a file that is not there', async () => {
    const sha256 = await put('scenarios.jsonl', jsonl(ciRow()));
    expect(await failure({ file: 'scenarios.jsonl', sha256: 'b'.repeat(64) })).toMatchObject({
      code: 'dataset_wrong_hash',
      found: sha256,
    });
    const absent = await failure({ file: 'scenario.jsonl' });
    expect(absent).toMatchObject({ code: 'dataset_file_missing', found: 'no such file' });
    expect(absent.hint).toBe(`did you mean ${join(folder, 'scenarios.jsonl')}?`);
    expect((await failure({ file: 'nowhere/x.jsonl' })).found).toBe(`no folder ${join(folder, 'nowhere')}`);
    expect((await failure({ file: '.' })).found).toBe('not a file');
  });
});

describe('the published rows', () => {
  const repo = 'huseyinatahaninan/ContextualIntegritySyntheticDataset';

  it.skipIf(!sharedData)('all load through the hub, irregular ones included (needs the real rows)', async () => {
    const hub = await startLoopbackHub({ folder: join(sharedData as string, 'hub') });
    try {
      const config = ciDatasetSchema.parse({ hub: repo });
      const { samples, source } = await loadCiSamples(config, { ...context, env: { HF_ENDPOINT: hub.url } });
      expect(source).toMatchObject({ kind: 'hub', repository: repo, revision: await hub.commit(repo), rows: 729 });

      expect(describeSamples(samples)).toMatchObject({
        rows: 729,
        allowed: 2110,
        disallowed: 1914,
        nested: { values: 13, rows: [10, 51, 53, 220, 291, 361, 511, 551, 612, 627] },
        both_sides: [52, 53, 160, 401],
        shared_seeds: { groups: 91, rows: 186 },
      });
      expect(samples[659]?.facts.map(({ key }) => key).sort()).toEqual([
        ...['clinic_name', 'private_conversation', 'progress_summary', 'specific_condition', 'start_date'],
      ]);
      const allowedFirst = samples.filter(({ facts, data }) => {
        const keys = new Set(data.fields.map(({ key }) => key));
        return facts.slice(0, keys.size).every(({ key }) => keys.has(key));
      });
      expect(allowedFirst.length).toBeLessThan(200);

      const list = join(sharedData as string, 'contextual_integrity_729.json');
      const fromJson = await loadCiSamples({ file: list }, { ...context, resolve: (path) => path });
      expect(fromJson.samples).toEqual(samples);
    } finally {
      await hub.close();
    }
  });
});

describe('the bundled scenarios', () => {
  const file = join(import.meta.dirname, '../../../datasets/heams_scenarios/scenarios.jsonl');

  it.skipIf(!existsSync(file))('load', async () => {
    const lines = (await readFile(file, 'utf8')).trim().split('\n').length;
    const bundledDir = join(file, '..');
    const { samples } = await loadCiSamples({ bundled: 'heams_scenarios' }, { ...context, bundledDir });
    expect(samples).toHaveLength(lines);
  });
});
