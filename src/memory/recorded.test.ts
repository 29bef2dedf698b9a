import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeDone } from '../../test/support/fake-records.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { recordLine } from '../store/records.ts';
import { recordedMemory } from './recorded.ts';

it('knows nothing of another system’s memory', async () => {
  const memory = await recordedMemory.create({ backend: 'recorded' }, fakePluginContext());
  expect([memory.name, memory.capabilities.external]).toEqual(['external', true]);
  const scope = await memory.open('x', fakeCall({ salt: 's#0' }));
  await scope.write([{ id: 'Name', key: 'Name', text: 'Name: Zoë' }]);
  await scope.ready(new AbortController().signal);
  expect(await scope.list()).toEqual([]);
  expect(await scope.search('q', 3)).toEqual({ query: 'q', items: [] });
  await scope.dispose();
  await memory.close();
});

it('says what an earlier run’s memory held, under that memory’s name', async () => {
  const records = join(await tempFolder(), 'runs.jsonl');
  const stored = [{ text: 'Name: Zoë', fact_ids: ['Name'] }];
  await writeFile(records, recordLine({ ...fakeDone({ id: 's' }), stored }));
  const run = { records, run_id: 'r1', backend: 'bm25', provenance: true };
  const memory = await recordedMemory.create({ backend: 'recorded', run }, fakePluginContext());
  expect([memory.name, memory.capabilities.external, memory.capabilities.provenance]).toEqual([
    'bm25',
    undefined,
    true,
  ]);
  expect(await (await memory.open('x', fakeCall({ salt: 's#0' }))).list()).toEqual(stored);
  expect(await (await memory.open('x', fakeCall({ salt: 't#0' }))).list()).toEqual([]);
});
