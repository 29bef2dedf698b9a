import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ciRow, parquetOf, putOnHub } from '../../test/support/dataset-rows.ts';
import { type LoopbackHub, startLoopbackHub } from '../../test/support/loopback-hub.ts';
import { systemClock } from '../lib/clock.ts';
import { type CiDatasetConfig, ciDatasetSchema } from '../schema/contextual-integrity.ts';
import { type DataOptions, dataFetch, dataInfo, dataValidate } from './data.ts';

let folder: string;
let hub: LoopbackHub;
const onHub = ciDatasetSchema.parse({ hub: 'owner/set', path: 'rows.parquet' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heams-'));
  const rows = [ciRow(0), ciRow(1), ciRow(1)];
  await putOnHub(join(folder, 'hub'), { repo: 'owner/set', path: 'rows.parquet', bytes: parquetOf(rows) });
  hub = await startLoopbackHub({ folder: join(folder, 'hub') });
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true });
});

function options(dataset: CiDatasetConfig, cache = 'cache'): DataOptions {
  return {
    dataset,
    seed: 0,
    resolve: (path) => join(folder, path),
    env: { HF_ENDPOINT: hub.url },
    cacheDir: join(folder, cache),
    bundledDir: join(folder, 'bundled'),
    signal: new AbortController().signal,
    clock: systemClock,
  };
}

function listen() {
  const lines: string[] = [];
  return { lines, out: (line: string) => void lines.push(line) };
}

describe('dataFetch', () => {
  it('says whether it downloaded, and what', async () => {
    const io = listen();
    expect(await dataFetch(options(onHub), io)).toMatchObject({ downloaded: true, manifest: { rows: 3 } });
    expect(io.lines[0]).toMatch(/^Fetched: .*rows\.parquet$/);
    expect(await dataFetch(options(onHub), io)).toMatchObject({ downloaded: false });
    expect(io.lines.filter((line) => line.startsWith('In the cache already: '))).toHaveLength(1);
  });

  it('has nothing to do for a local file', async () => {
    await expect(dataFetch(options({ file: 'x.jsonl' }), listen())).rejects.toMatchObject({
      code: 'dataset_not_on_hub',
    });
  });
});

describe('dataInfo', () => {
  it('describes what is in the cache, and asks the hub for nothing', async () => {
    await dataFetch(options(onHub, 'info'), listen());
    const before = hub.requests.length;
    const io = listen();
    const info = await dataInfo(options(onHub, 'info'), io);
    expect(info.content).toEqual({
      rows: 3,
      facts: 6,
      allowed: 3,
      disallowed: 3,
      nested: { values: 0, rows: [] },
      both_sides: [],
      equal_values: [],
      shared_seeds: { groups: 1, rows: 2 },
      domains: { Hospitality: 3 },
      transmission_principles: { Confidentiality: 3 },
      scenarios: { email: 3 },
    });
    expect(io.lines).toContain('3 rows, 6 facts, 3 allowed values, 3 disallowed values');
    expect(hub.requests).toHaveLength(before);
    expect(JSON.parse(JSON.stringify(info))).toEqual(info);
  });

  it('does not fetch what is not in the cache', async () => {
    const before = hub.requests.length;
    await expect(dataInfo(options(onHub, 'empty'), listen())).rejects.toMatchObject({ code: 'dataset_not_cached' });
    expect(hub.requests).toHaveLength(before);
  });
});

describe('dataValidate', () => {
  it('finds nothing wrong with good rows', async () => {
    const io = listen();
    expect(await dataValidate(options(onHub), io)).toMatchObject({ rows: 3, good: 3, problems: [] });
    expect(io.lines[0]).toMatch(/3 rows, 3 good, 0 problems$/);
  });

  it('finds every problem, row by row', async () => {
    const bad = [
      { ...ciRow(0), id: 'a' },
      { ...ciRow(1), seed: '{"scenario": ' },
      {
        ...ciRow(2),
        dataset_item: { ...ciRow(2).dataset_item, annotation: { allowed: {}, disallowed: { health: ' ' } } },
      },
      { ...ciRow(3), id: 'a' },
      { seed: ciRow(4).seed },
      { ...ciRow(5), id: 'b' },
    ];
    await writeFile(join(folder, 'bad.jsonl'), bad.map((row) => JSON.stringify(row)).join('\n'));
    const io = listen();
    const result = await dataValidate(options({ file: 'bad.jsonl', limit: 1 }), io);
    expect(result).toMatchObject({ rows: 6, good: 2, content: { rows: 2 } });
    expect(result.problems.map(({ code, where }) => [code, where?.line])).toEqual([
      ['dataset_bad_json', 2],
      ['dataset_blank_value', 3],
      ['dataset_no_allowed_values', 3],
      ['dataset_duplicate_id', 4],
      ['dataset_missing_column', 5],
    ]);
    expect(io.lines.at(-1)).toMatch(/6 rows, 2 good, 5 problems$/);
  });

  it('warns of seed fields that nobody reads and of values in no fact, and is content all the same', async () => {
    const good = ciRow(0);
    const rows = [
      { ...good, seed: { ...good.seed, recepient: 'hotel', colour_of_envelope: 'blue' } },
      {
        ...ciRow(1),
        dataset_item: {
          ...good.dataset_item,
          // In another fact and in other letters is fine; a part of a list that is nowhere is not.
          annotation: { allowed: { arrival: 'EUTIROX' }, disallowed: { health: ['operation', 'gout'] } },
        },
      },
    ];
    await writeFile(join(folder, 'odd.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
    const io = listen();
    const { problems, warnings } = await dataValidate(options({ file: 'odd.jsonl' }), io);
    expect(problems).toEqual([]);
    expect(warnings.map(({ code, where, found, hint }) => [code, where?.line, found, hint])).toEqual([
      ['dataset_unknown_seed_field', 1, '"recepient"', 'did you mean "recipient"?'],
      ['dataset_unknown_seed_field', 1, '"colour_of_envelope"', undefined],
      ['dataset_value_in_no_fact', 2, '"gout"', expect.stringContaining('neither leak nor cover')],
    ]);
    expect(io.lines[0]).toMatch(/^Warning: .*odd\.jsonl:1:1: row 0/);
    expect(io.lines).toContainEqual(expect.stringMatching(/2 rows, 2 good, 0 problems, 3 warnings$/));
  });

  it('lists what is wrong with the file as a whole', async () => {
    await writeFile(join(folder, 'page.parquet'), '<html>');
    const result = await dataValidate(options({ file: 'page.parquet' }), listen());
    expect(result).toMatchObject({ rows: 0, good: 0, problems: [{ code: 'dataset_not_parquet' }] });
  });
});
