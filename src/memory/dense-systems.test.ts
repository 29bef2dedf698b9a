import { expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { pool } from '../../test/support/memory-contract.ts';
import { startPglite } from '../../test/support/pglite.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { lancedb } from './lancedb.ts';
import { langgraphStore } from './langgraph-store.ts';
import { pgvector } from './pgvector.ts';
import { vector } from './vector.ts';

const queries = [
  ...pool.map(({ text }) => text),
  'Which identity document does the guest carry?',
  'When does the stay begin?',
  'What did her mother ask?',
  'a room that looks at the sea',
];

it('every exact search by cosine finds what `vector` finds, in its order and with its scores', {
  timeout: 120_000,
}, async () => {
  const pglite = await startPglite();
  const context = { ...fakePluginContext(), env: { PG_URL: pglite.url } };
  const plugins = [vector, pgvector, lancedb, langgraphStore] as MemoryPlugin[];
  const found = [];
  const backends = [];
  for (const plugin of plugins) {
    const place = plugin.name === 'pgvector' ? { url_env: 'PG_URL', pool_size: 1 } : {};
    const backend = await plugin.create(plugin.schema.parse({ backend: plugin.name, ...place }), context);
    backends.push(backend);
    const scope = await backend.open('same', fakeCall());
    await scope.write(pool);
    const recalls = [];
    for (const query of queries) recalls.push((await scope.search(query, 4)).items);
    found.push(recalls);
    await scope.dispose();
  }
  for (const backend of backends) await backend.close();
  await pglite.stop();
  const [expected, ...others] = found.map((recalls) =>
    recalls.map((items) => items.map(({ fact_ids, score }) => `${fact_ids} ${score?.toFixed(4)}`)),
  );
  for (const other of others) expect(other).toEqual(expected);
});
