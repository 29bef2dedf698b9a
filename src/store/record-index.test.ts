import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { RecordIndex } from './record-index.ts';
import { recordLine } from './records.ts';

it('finds every record by sample and repeat, the last where a job was tried again', async () => {
  const file = join(await tempFolder(), 'runs.jsonl');
  const records = [
    fakeFailed({ id: 'a' }),
    fakeDone({ id: 'b', message: 'Zoë 😀' }),
    fakeDone({ id: 'b', repeat: 1 }),
    fakeDone({ id: 'a', message: 'at last' }),
  ];
  // The last line is torn, and was never promised to anyone.
  await writeFile(file, `${records.map(recordLine).join('')}{"version":1,`);
  const index = await RecordIndex.open(file);
  expect(await index.get('a#0')).toEqual(records[3]);
  expect(await index.get('b#0')).toEqual(records[1]);
  expect(await index.get('b#1')).toEqual(records[2]);
  expect(await index.get('b#2')).toBeUndefined();
});
