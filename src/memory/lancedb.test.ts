import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { planeEmbedder, planeFacts, planeRanking } from '../../test/support/plane-embedder.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import { lancedb } from './lancedb.ts';

const parsed = (more: object) => lancedb.schema.parse({ backend: 'lancedb', ...more });
const create = (more: object = {}): Promise<MemoryBackend> => lancedb.create(parsed(more), fakePluginContext());
const onPlane = (more: object = {}): Promise<MemoryBackend> =>
  lancedb.create(parsed({ embedding_model_id: 'openai:x', ...more }), fakePluginContext({ embedder: planeEmbedder }));
/** The tables in a folder: LanceDB keeps a list of its own beside them. */
const tablesIn = async (folder: string) => (await readdir(folder)).filter((name) => name.endsWith('.lance'));

memoryContract('lancedb', () => create(), {
  capabilities: {
    stores: true,
    rewrites: false,
    provenance: true,
    honours_k: true,
    needs_network: false,
    needs_key: false,
  },
});

describe('lancedb', () => {
  it('ranks by cosine, ties by order of writing; what has no direction is not found', async () => {
    const backend = await onPlane();
    const scope = await backend.open('plane', fakeCall());
    await scope.write(planeFacts.slice(0, 3));
    await scope.write(planeFacts.slice(3));
    const ranking = async (query: string, k: number) =>
      (await scope.search(query, k)).items.map(({ fact_ids, score }) => [fact_ids[0], Number(score?.toFixed(6))]);
    expect(await ranking('(1, 0)', 9)).toEqual(planeRanking);
    expect(await ranking('(7, 0)', 2)).toEqual(planeRanking.slice(0, 2));
    expect(await ranking('nothing', 9)).toEqual([]);
    expect((await scope.list()).length).toBe(planeFacts.length);
    await backend.close();
  });

  it('keeps sixteen scopes apart, and leaves no table of theirs behind', async () => {
    const folder = await tempFolder();
    const backend = await onPlane({ folder });
    const one = async (i: number) => {
      const scope = await backend.open(`many-${i}`, fakeCall());
      await scope.write([{ id: `f${i}`, key: 'k', text: `(1, ${i}) canary ${i}` }]);
      const found = (await scope.search('(1, 1)', 100)).items.flatMap(({ fact_ids }) => fact_ids);
      await scope.dispose();
      return found;
    };
    const indices = Array.from({ length: 16 }, (_, i) => i);
    expect(await Promise.all(indices.map(one))).toEqual(indices.map((i) => [`f${i}`]));
    expect(await tablesIn(folder)).toEqual([]);
    await backend.close();
    expect(existsSync(folder)).toBe(true);
  });

  it('opens empty where a killed run left facts, and whoever still uses those is told', async () => {
    const folder = await tempFolder();
    const [killed, resumed] = [await onPlane({ folder }), await onPlane({ folder })];
    const old = await killed.open('same', fakeCall());
    await old.write(planeFacts);
    expect((await tablesIn(folder)).length).toBe(1);

    const scope = await resumed.open('same', fakeCall());
    expect(await tablesIn(folder)).toEqual([]);
    expect(await scope.list()).toEqual([]);
    expect((await scope.search('(1, 0)', 3)).items).toEqual([]);
    expect((await heamsErrorOf(old.search('(1, 0)', 3))).code).toBe('memory_database_error');
    expect((await heamsErrorOf(old.list())).code).toBe('memory_database_error');
    await old.dispose();
    await scope.write(planeFacts);
    expect((await scope.search('(1, 0)', 1)).items[0]?.fact_ids).toEqual(['first']);
    await killed.close();
    await resumed.close();
  });

  it('uses a temporary folder where none is named, and removes it', async () => {
    const folders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('heams-lancedb-'));
    const before = new Set(await folders());
    const backend = await onPlane();
    const own = (await folders()).filter((name) => !before.has(name));
    await (await backend.open('s', fakeCall())).write(planeFacts);
    const there = own.filter((name) => existsSync(join(tmpdir(), name)));
    await backend.close();
    // Others may make and remove such folders at the same time.
    expect(there.some((name) => !existsSync(join(tmpdir(), name)))).toBe(true);
  });

  it('keeps a NUL, and refuses half a character', async () => {
    const backend = await onPlane();
    const scope = await backend.open('texts', fakeCall());
    await scope.write([{ id: 'a', key: 'k', text: '(1, 0) a\0b' }]);
    expect(await scope.list()).toEqual([{ text: '(1, 0) a\0b', fact_ids: ['a'] }]);
    const error = await heamsErrorOf(scope.write([{ id: 'b', key: 'k', text: '(1, 0) \udc00' }]));
    expect([error.code, error.found]).toEqual(['memory_text_refused', 'half of a surrogate pair in "k"']);
    expect((await scope.list()).length).toBe(1);
    await backend.close();
  });

  it('says so where its folder cannot be one', async () => {
    const error = await heamsErrorOf(create({ folder: '/dev/null/folder' }));
    expect(error.code).toBe('memory_folder');
  });
});

describe('lancedb files', () => {
  it('name a folder on this machine, which changes no outcome and is made absolute', () => {
    const remote = lancedb.schema.safeParse({ backend: 'lancedb', folder: 's3://bucket/x' });
    expect(remote.error?.issues[0]?.message).toMatch(/a folder on this machine/);
    expect(lancedb.identity?.(parsed({ folder: 'x', top_k: 3 }))).toEqual({
      backend: 'lancedb',
      top_k: 3,
      embedding_model_id: 'builtin:use-lite-512',
    });
    expect(lancedb.inlined?.(parsed({ folder: 'x' }), (path) => `/there/${path}`).folder).toBe('/there/x');
  });
});
