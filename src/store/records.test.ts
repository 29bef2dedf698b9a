import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Json } from '../schema/json.ts';
import type { SampleRecord } from '../schema/record.ts';
import { lineHead, listExperiments, parseRecord, readRecords, recordLine } from './records.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const key = fc.integer({ min: 8, max: 64 }).chain((length) => {
  const digit = fc.constantFrom(...'0123456789abcdef');
  return fc.string({ unit: digit, minLength: length, maxLength: length });
});
const grade = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 3 })
  // Through JSON once, as it comes from a judge: no -0. A key `__proto__` is no part of any grade.
  .map((value) => JSON.parse(JSON.stringify(value)) as Json)
  .filter((value) => !JSON.stringify(value).includes('__proto__'));

const anyRecord: fc.Arbitrary<SampleRecord> = fc.oneof(
  fc
    .record({ key, id: anyText, message: anyText, task: anyText, grade })
    .map(({ key, grade, ...sample }) => ({ ...fakeDone(sample), key, grade })),
  fc
    .record({ key, id: anyText, message: anyText })
    .map(({ key, id, message }) => ({ ...fakeFailed({ id, error: { message } }), key })),
);

async function readAll(file: string): Promise<SampleRecord[]> {
  const records: SampleRecord[] = [];
  for await (const record of readRecords(file)) records.push(record);
  return records;
}

describe('recordLine', () => {
  it('is one line that tells status and key at its head, and parses to the record', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const line = recordLine(record);
        const bytes = Buffer.from(line.slice(0, -1));
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(lineHead(bytes)).toEqual({ status: record.status, key: record.key });
        expect(parseRecord(bytes, 'runs.jsonl', 1)).toEqual(record);
      }),
    );
  });

  it('does not depend on the order of the keys in the record', () => {
    const { status, key, version, ...rest } = fakeDone({ id: 'a' });
    expect(recordLine({ ...rest, key, version, status })).toBe(recordLine({ version, status, key, ...rest }));
  });
});

describe('lineHead', () => {
  it.each([
    ['an empty line', ''],
    ['other JSON', '{"a":1}'],
    ['another version', '{"version":2,"status":"done","key":"0123456789abcdef"}'],
    ['another status', '{"version":1,"status":"running","key":"0123456789abcdef"}'],
    ['another order', '{"status":"done","version":1,"key":"0123456789abcdef"}'],
    ['blanks', '{ "version":1,"status":"done","key":"0123456789abcdef"}'],
    ['a key that is no hash', '{"version":1,"status":"done","key":"../../etc"}'],
    ['a key that is cut off', '{"version":1,"status":"done","key":"0123456789ab'],
  ])('does not know %s', (_, line) => {
    expect(lineHead(Buffer.from(line))).toBeUndefined();
  });
});

describe('readRecords', () => {
  it.each([
    ['text', 'not a record', '"not a record" ...'],
    ['an empty line', '', '"" ...'],
    ['other JSON', '{"a":1}', 'status: Invalid'],
    ['JSON that is no object', '[]', 'record: Invalid input'],
    [
      'a record with a part missing',
      recordLine(fakeDone({ id: 'b' }))
        .trim()
        .replace(',"grade":', ',"graded":'),
      'grade: expected a JSON value',
    ],
    ['a record that breaks off', recordLine(fakeDone({ id: 'b' })).slice(0, 200), '" ...'],
  ])('names file and line of %s between records', async (_, foreign, found) => {
    const file = join(await tempFolder(), 'runs.jsonl');
    await writeFile(file, `${recordLine(fakeDone({ id: 'a' }))}${foreign}\n${recordLine(fakeDone({ id: 'c' }))}`);
    const reading = readAll(file);
    await expect(reading).rejects.toMatchObject({
      code: 'records_foreign_line',
      where: { file, line: 2, column: 1 },
      found: expect.stringContaining(found) as string,
    });
  });

  it('leaves a torn last line out', async () => {
    const file = join(await tempFolder(), 'runs.jsonl');
    await writeFile(file, recordLine(fakeDone({ id: 'a' })) + recordLine(fakeDone({ id: 'b' })).slice(0, -1));
    expect(await readAll(file)).toEqual([fakeDone({ id: 'a' })]);
  });
});

describe('listExperiments', () => {
  it('finds the folders that hold records, by name', async () => {
    const dir = await tempFolder();
    for (const name of ['b', 'a', '_rollup', 'c']) await mkdir(join(dir, name));
    await mkdir(join(dir, 'c', 'runs.jsonl'));
    for (const name of ['b', 'a']) await writeFile(join(dir, name, 'runs.jsonl'), '');
    await writeFile(join(dir, 'run_config.yaml'), '');
    const runsFile = (name: string) => join(dir, name, 'runs.jsonl');
    expect(await listExperiments(dir)).toEqual([
      { name: 'a', dir: join(dir, 'a'), runsFile: runsFile('a') },
      { name: 'b', dir: join(dir, 'b'), runsFile: runsFile('b') },
    ]);
  });

  it('tells a missing folder from one without experiments', async () => {
    const dir = await tempFolder();
    await expect(listExperiments(dir)).rejects.toMatchObject({ code: 'results_empty', where: { file: dir } });
    const missing = join(dir, 'missing');
    await expect(listExperiments(missing)).rejects.toMatchObject({ code: 'results_missing', where: { file: missing } });
  });
});

describe('a second record of a job that is done', () => {
  it.each(['done', 'failed'] as const)('is named as one when its first is done and it is %s', async (status) => {
    const file = join(await tempFolder(), 'runs.jsonl');
    const first = fakeDone({ id: 'a' });
    const second = status === 'done' ? first : { ...fakeFailed({ id: 'a' }), key: first.key };
    await writeFile(file, `${recordLine(first)}${recordLine(fakeDone({ id: 'b' }))}${recordLine(second)}`);
    const reading = (async () => {
      for await (const _ of readRecords(file));
    })();
    await expect(reading).rejects.toMatchObject({ code: 'records_foreign_line', where: { file, line: 3 } });
  });
});
