import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ciRow, parquetOf } from '../../test/support/dataset-rows.ts';
import type { HeamsError } from '../lib/errors.ts';
import { readRows, scanRows } from './read-rows.ts';

const columns = { required: ['seed', 'dataset_item'], optional: ['id'] };
const signal = new AbortController().signal;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heams-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

const read = (file: string) => all(readRows(file, { columns, signal }));
const failure = async (file: string): Promise<HeamsError> =>
  read(file).then(
    () => expect.unreachable('the file was read'),
    (error: HeamsError) => error,
  );

describe('readRows', () => {
  const rows = [ciRow(0), ciRow(1), ciRow(2)];

  it('reads parquet over several row groups, with the columns parsed', async () => {
    const file = await put('groups.parquet', parquetOf(rows, { rowGroupSize: 2 }));
    expect(await read(file)).toEqual(rows.map((value, row) => ({ row, where: { file }, value })));
  });

  it('knows parquet by its first bytes, whatever its name', async () => {
    expect(await read(await put('download.bin', parquetOf(rows)))).toHaveLength(3);
  });

  it('takes an id column, leaves out a null and turns 64-bit integers into numbers', async () => {
    const data = {
      seed: rows.map((row) => JSON.stringify(row.seed)),
      item: rows.map((row) => JSON.stringify(row.dataset_item)),
    };
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: [7n, null, 9n], type: 'INT64' },
        { name: 'other', data: ['x', 'y', 'z'] },
        { name: 'seed', data: data.seed },
        { name: 'dataset_item', data: data.item },
      ],
    });
    const read3 = await read(await put('ids.parquet', Buffer.from(bytes)));
    expect(read3.map(({ value }) => ('id' in value ? value.id : 'none'))).toEqual([7, 'none', 9]);
    expect(read3.some(({ value }) => 'other' in value)).toBe(false);
  });

  it('reads a JSON list whose columns are objects or strings of JSON', async () => {
    const asText = { seed: JSON.stringify(rows[1]?.seed), dataset_item: JSON.stringify(rows[1]?.dataset_item) };
    const file = await put('mixed.json', JSON.stringify([rows[0], asText]));
    expect((await read(file)).map(({ value }) => value)).toEqual([rows[0], rows[1]]);
  });

  it('reads JSON Lines with blank lines, a byte order mark and Windows line ends, and names the lines', async () => {
    const file = await put('lines.jsonl', `\uFEFF${JSON.stringify(rows[0])}\r\n\r\n${JSON.stringify(rows[1])}`);
    expect(await read(file)).toEqual([
      { row: 0, where: { file, line: 1 }, value: rows[0] },
      { row: 1, where: { file, line: 3 }, value: rows[1] },
    ]);
  });

  it('keeps characters whole that lie across two reads of the file', async () => {
    const long = { ...ciRow(), pad: 'żółć€𐍈'.repeat(20_000) };
    const file = await put('long.jsonl', `${JSON.stringify(long)}\n${JSON.stringify(rows[1])}\n`);
    expect((await read(file)).map(({ value }) => value)).toEqual([long, rows[1]]);
  });

  it('stops with the reason of an abort', async () => {
    const file = await put('abort.parquet', parquetOf(rows));
    const reason = new Error('enough');
    const aborted = readRows(file, { columns, signal: AbortSignal.abort(reason) });
    await expect(aborted.next()).rejects.toBe(reason);
    const text = await put('abort.jsonl', JSON.stringify(rows[0]));
    await expect(readRows(text, { columns, signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
  });
});

describe('what cannot be read', () => {
  const good = JSON.stringify(ciRow());

  it.each([
    ['page.parquet', '<!doctype html><html>', 'dataset_not_parquet', /web page/],
    ['pointer.parquet', 'version https://git-lfs.github.com/spec/v1\n', 'dataset_not_parquet', /LFS pointer/],
    ['text.parquet', '[{"seed": 1}]', 'dataset_not_parquet', /\.jsonl/],
    ['rows.csv', 'seed,dataset_item', 'dataset_unknown_format', /\.csv/],
    ['empty.jsonl', '', 'dataset_empty', /0 bytes/],
    ['blank.jsonl', '\n \n', 'dataset_empty', /no rows/],
    ['none.json', '[]', 'dataset_empty', /no rows/],
    ['object.json', '{"rows": []}', 'dataset_not_a_list', /an object/],
  ])('%s', async (name, content, code, found) => {
    const error = await failure(await put(name, content));
    expect(error).toMatchObject({ code, where: { file: join(folder, name) } });
    expect(error.found).toMatch(found);
  });

  it('a parquet file without its end, or with rubbish inside', async () => {
    const whole = parquetOf(Array.from({ length: 50 }, (_, n) => ciRow(n)));
    expect(await failure(await put('cut.parquet', whole.subarray(0, 400)))).toMatchObject({
      code: 'dataset_not_parquet',
    });
    const spoilt = Buffer.from(whole);
    spoilt.fill(0xff, 4, 200);
    expect(await failure(await put('spoilt.parquet', spoilt))).toMatchObject({ code: 'dataset_not_parquet' });
  });

  it('a missing column, with those that are there', async () => {
    const renamed = [{ seed: ciRow().seed, dataset_items: ciRow().dataset_item }];
    const columnsOfFile = ['seed', 'dataset_items'];
    const error = await failure(await put('renamed.parquet', parquetOf(renamed, { columns: columnsOfFile })));
    expect(error).toMatchObject({ code: 'dataset_missing_column', found: 'seed, dataset_items' });
    expect(error.message).toBe('column "dataset_item" is missing');
    expect(error.hint).toContain('"dataset_items"');
    const inText = await failure(await put('renamed.jsonl', `${good}\n${JSON.stringify(renamed[0])}`));
    expect(inText.message).toBe('row 1 (counting from 0): column "dataset_item" is missing');
    expect(inText.where?.line).toBe(2);
  });

  it('a cell whose JSON is bad, with its row and place', async () => {
    const spoilt = { ...ciRow(1), seed: '{"scenario": "email", oops}' };
    const error = await failure(await put('cell.parquet', parquetOf([ciRow(0), spoilt, ciRow(2)])));
    expect(error.code).toBe('dataset_bad_json');
    expect(error.message).toBe('row 1 (counting from 0): column "seed" is not JSON');
    expect(error.found).toContain('at character 22');
  });

  it('a line that is not JSON, or no object', async () => {
    const error = await failure(await put('line.jsonl', `${good}\n{"seed": {}`));
    expect(error).toMatchObject({ code: 'dataset_bad_json', where: { line: 2 } });
    expect(error.found).toBe('the text ends too early, at character 11');
    expect(await failure(await put('number.jsonl', '17\n'))).toMatchObject({
      code: 'dataset_bad_row',
      found: 'the number 17',
    });
  });

  it('a JSON file with its line and column', async () => {
    const error = await failure(await put('bad.json', '[\n  {"seed": {}},\n  nope\n]'));
    expect(error).toMatchObject({ code: 'dataset_bad_json', where: { line: 3, column: 3 } });
  });

  it('text that is not UTF-8', async () => {
    const latin1 = Buffer.from('{"seed": "caf\xe9"}', 'latin1');
    expect(await failure(await put('latin1.jsonl', latin1))).toMatchObject({ code: 'dataset_not_utf8' });
    expect(await failure(await put('latin1.json', latin1))).toMatchObject({ code: 'dataset_not_utf8' });
  });

  it('a file that is not there', async () => {
    expect(await failure(join(folder, 'absent.jsonl'))).toMatchObject({ code: 'dataset_unreadable' });
  });

  it('is named row by row by scanRows, which reads on', async () => {
    const file = await put('several.jsonl', `{\n${good}\n{"seed": "{"}\n${good}\n`);
    const scanned = await all(scanRows(file, { columns, signal }));
    expect(scanned.map(({ row, status }) => [row, status])).toEqual([
      [0, 'bad'],
      [1, 'read'],
      [2, 'bad'],
      [3, 'read'],
    ]);
  });
});
