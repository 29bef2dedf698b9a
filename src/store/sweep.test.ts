import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { sweepTemporary } from './sweep.ts';

const now = Date.UTC(2025, 0, 1);

it('removes temporary files of a certain age, and nothing else', async () => {
  const dir = await tempFolder();
  const ages = {
    '.0123456789ab.tmp': 60_000,
    '.ba9876543210.tmp': 59_999,
    '.env': 90_000,
    'mine.tmp': 90_000,
    '.0123456789abc.tmp': 90_000,
    'runs.jsonl': 90_000,
  };
  for (const [name, age] of Object.entries(ages)) {
    await writeFile(join(dir, name), '');
    await utimes(join(dir, name), 0, (now - age) / 1000);
  }
  await sweepTemporary(dir, now, 60_000);
  expect(new Set(await readdir(dir))).toEqual(new Set(Object.keys(ages).slice(1)));
  await sweepTemporary(dir, now, 0);
  expect(new Set(await readdir(dir))).toEqual(new Set(Object.keys(ages).slice(2)));
});
