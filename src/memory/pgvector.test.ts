import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { type PgliteServer, startPglite } from '../../test/support/pglite.ts';
import { planeEmbedder, planeFacts, planeRanking } from '../../test/support/plane-embedder.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { MemoryBackend, MemoryScope } from '../contracts/memory.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import { pgvector } from './pgvector.ts';

// PostgreSQL with pgvector in WebAssembly, and the real client over the real protocol.
let pglite: PgliteServer;
const backends: MemoryBackend[] = [];
beforeAll(async () => {
  pglite = await startPglite();
}, 120_000);
afterAll(async () => {
  for (const backend of backends) await backend.close();
  await pglite.stop();
});

const parsed = (more: object) =>
  pgvector.schema.parse({ backend: 'pgvector', url_env: 'PG_URL', pool_size: 1, ...more });

async function create(more: object = {}, embedder?: EmbeddingModel, server = pglite): Promise<MemoryBackend> {
  const context = fakePluginContext(embedder ? { embedder } : {});
  const options = parsed({ ...(embedder ? { embedding_model_id: 'openai:x' } : {}), ...more });
  const backend = await pgvector.create(options, { ...context, env: { PG_URL: server.url } });
  backends.push(backend);
  return backend;
}

async function primed(backend: MemoryBackend, scopeId: string): Promise<MemoryScope> {
  const scope = await backend.open(scopeId, fakeCall());
  await scope.write(planeFacts);
  return scope;
}

const ranking = async (scope: MemoryScope, query: string, k = 9) =>
  (await scope.search(query, k)).items.map(({ fact_ids, score }) => [fact_ids[0], Number(score?.toFixed(6))]);

const capabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: true,
  needs_key: false,
};
memoryContract('pgvector', () => create(), { capabilities });
memoryContract('pgvector with an hnsw index', () => create({ table: 'graph', index: 'hnsw', dimensions: 512 }), {
  capabilities,
});

describe('pgvector', () => {
  const kinds = [{ table: 'exact' }, { table: 'hnsw', index: 'hnsw', dimensions: 2 }] as object[];
  kinds.push({ table: 'ivfflat', index: 'ivfflat', dimensions: 2 });

  it.each(kinds)('ranks by cosine, ties by order of writing; what has no direction is not found (%j)', async (more) => {
    const scope = await primed(await create(more, planeEmbedder), 'plane');
    expect(await ranking(scope, '(1, 0)')).toEqual(planeRanking);
    expect(await ranking(scope, '(7, 0)', 2)).toEqual(planeRanking.slice(0, 2));
    expect(await ranking(scope, 'nothing')).toEqual([]);
    expect((await scope.list()).length).toBe(planeFacts.length);
    await scope.dispose();
  });

  it('makes the index that it is told to make, and none else', async () => {
    const indexes = `SELECT indexdef FROM pg_indexes WHERE tablename IN ('exact', 'hnsw', 'ivfflat')
      AND indexname NOT LIKE '%pkey' ORDER BY indexname`;
    const made = (await pglite.exec(indexes)).map(({ indexdef }) => String(indexdef));
    expect(made).toEqual([
      expect.stringMatching(/"?hnsw_hnsw_2"? ON .* USING hnsw \(\(\(embedding\)::vector\(2\)\) vector_cosine_ops\)/),
      expect.stringMatching(/"?ivfflat_ivfflat_2"? ON .* USING ivfflat/),
    ]);
  });

  it('gives k facts of its own scope through an index that is full of other scopes', async () => {
    const backend = await create({ table: 'crowd', index: 'hnsw', dimensions: 2 }, planeEmbedder);
    const scopes = await Promise.all(Array.from({ length: 30 }, (_, i) => primed(backend, `crowd-${i}`)));
    // The planner would rather read one scope's few rows: with that taken from it, it asks the index.
    await pglite.exec('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
    const plan = await pglite.exec(`EXPLAIN SELECT fact_id FROM crowd WHERE scope = 'crowd-0'
      ORDER BY embedding::vector(2) <=> '[1,0]'::vector, seq LIMIT 4`);
    expect(JSON.stringify(plan)).toContain('Index Scan using crowd_hnsw_2');
    for (const scope of [scopes[0], scopes[17], scopes[29]] as MemoryScope[]) {
      expect(await ranking(scope, '(1, 0)', 4)).toEqual(planeRanking.slice(0, 4));
    }
    await pglite.exec('RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_sort');
    for (const scope of scopes) await scope.dispose();
    expect(await pglite.exec('SELECT * FROM crowd')).toEqual([]);
  });

  it('pays for its embeddings with the call that opened the scope', async () => {
    const backend = await create({ table: 'paid' }, planeEmbedder);
    const call = fakeCall({ stage: 'prime' });
    const scope = await backend.open('paid', call);
    await scope.write(planeFacts);
    await scope.search('(1, 0)', 1);
    expect(call.spent.prime.calls).toBe(2);
  });

  it('stores nothing when its embeddings fail', async () => {
    const broken: EmbeddingModel = { id: 'test:broken', embed: () => Promise.reject(new Error('out of order')) };
    const scope = await (await create({ table: 'broken' }, broken)).open('broken', fakeCall());
    await expect(scope.write(planeFacts)).rejects.toThrow('out of order');
    expect(await scope.list()).toEqual([]);
  });

  it('refuses vectors of another length than its index has', async () => {
    const backend = await create({ table: 'three', index: 'hnsw', dimensions: 3 }, planeEmbedder);
    const error = await heamsErrorOf(primed(backend, 'three'));
    expect(error.code).toBe('embedding_bad_response');
    expect(error.expected).toBe('3 dimensions, as the memory file says');
  });

  it('needs a key where its embedding model does', async () => {
    expect((await create({}, planeEmbedder)).capabilities.needs_key).toBe(true);
  });

  it('works where the extension is in a schema of its own, and refuses an index on an old one', {
    timeout: 120_000,
  }, async () => {
    const server = await startPglite();
    await server.exec('CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions');
    const scope = await primed(await create({}, planeEmbedder, server), 'elsewhere');
    expect(await ranking(scope, '(1, 0)')).toEqual(planeRanking);

    await server.exec(`SET allow_system_table_mods = on; UPDATE pg_extension SET extversion = '0.7.4'`);
    const old = await create({ table: 'old', index: 'hnsw', dimensions: 2 }, planeEmbedder, server);
    const error = await heamsErrorOf(old.open('x', fakeCall()));
    expect([error.code, error.found]).toEqual(['memory_extension_old', '0.7.4']);
    await server.stop();
  });
});

describe('pgvector files', () => {
  const problems = (more: object) =>
    (pgvector.schema.safeParse({ backend: 'pgvector', url_env: 'X', ...more }).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );

  it('give the dimensions with an index, and only with one', () => {
    expect(problems({ index: 'hnsw' })[0]).toBe('dimensions: index: hnsw needs dimensions, such as 512');
    expect(problems({ dimensions: 512 })[0]).toBe('dimensions: dimensions has a use with an index alone');
    expect(problems({ index: 'hnsw', dimensions: 3072 })[0]).toMatch(/^dimensions: /);
    expect(problems({ index: 'ivfflat', dimensions: 512 })).toEqual([]);
  });

  it('keep the place out of what can change an outcome, and the index in', () => {
    expect(pgvector.identity?.(parsed({ table: 't', index: 'hnsw', dimensions: 512, name: 'x' }))).toEqual({
      backend: 'pgvector',
      top_k: 5,
      embedding_model_id: 'builtin:use-lite-512',
      index: 'hnsw',
      dimensions: 512,
    });
  });
});
