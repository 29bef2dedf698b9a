import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { planeEmbedder, planeFacts, planeRanking } from '../../test/support/plane-embedder.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import { langgraphStore } from './langgraph-store.ts';

const create = (more: object = {}, embedder?: EmbeddingModel): Promise<MemoryBackend> =>
  langgraphStore.create(
    langgraphStore.schema.parse({ backend: 'langgraph_store', ...more }),
    fakePluginContext(embedder ? { embedder } : {}),
  );
const onPlane = (embedder = planeEmbedder) => create({ embedding_model_id: 'openai:x' }, embedder);

memoryContract('langgraph_store', () => create(), {
  capabilities: {
    stores: true,
    rewrites: false,
    provenance: true,
    honours_k: true,
    needs_network: false,
    needs_key: false,
  },
});

describe('langgraph_store', () => {
  it('ranks by cosine, ties by order of writing; what has no direction scores 0', async () => {
    const scope = await (await onPlane()).open('plane', fakeCall());
    await scope.write(planeFacts);
    const ranking = async (query: string, k: number) =>
      (await scope.search(query, k)).items.map(({ fact_ids, score }) => [fact_ids[0], Number(score?.toFixed(6))]);
    // Two facts of score 0, "up" and "nothing", in the order of writing.
    expect(await ranking('(1, 0)', 9)).toEqual([...planeRanking.slice(0, 4), ['nothing', 0], ...planeRanking.slice(4)]);
    expect(await ranking('(7, 0)', 2)).toEqual(planeRanking.slice(0, 2));
  });

  it('pays for the embeddings of each scope with the call that opened it', async () => {
    const slow: EmbeddingModel = {
      id: 'test:slow',
      embed: async (texts, call) => {
        await new Promise((resolve) => setImmediate(resolve));
        return planeEmbedder.embed(texts, call);
      },
    };
    const backend = await onPlane(slow);
    const calls = [fakeCall({ stage: 'prime' }), fakeCall({ stage: 'prime' })] as const;
    const [one, two] = await Promise.all(calls.map((call, i) => backend.open(`paid-${i}`, call)));
    await Promise.all([one?.write(planeFacts), two?.write(planeFacts)]);
    await Promise.all([one?.search('(1, 0)', 1), two?.search('(1, 0)', 1), two?.search('(0, 1)', 1)]);
    expect(calls.map(({ spent }) => spent.prime.calls)).toEqual([2, 3]);
  });

  it('stores nothing when its embeddings fail, or are too few', async () => {
    const broken: EmbeddingModel = { id: 'test:broken', embed: () => Promise.reject(new Error('out of order')) };
    const few: EmbeddingModel = { id: 'test:few', embed: async () => [Float32Array.of(1, 0)] };
    for (const [embedder, message] of [
      [broken, 'out of order'],
      [few, 'unusable answer'],
    ] as const) {
      const scope = await (await onPlane(embedder)).open('broken', fakeCall());
      await expect(scope.write(planeFacts)).rejects.toThrow(message);
      expect(await scope.list()).toEqual([]);
    }
  });

  it('keeps scopes apart across the stores that it begins, whatever their ids', async () => {
    const backend = await onPlane();
    const idOf = (i: number) => `scope.${i}:${'x'.repeat(i % 3)}`;
    const scopes = [];
    for (let i = 0; i < 300; i++) {
      const scope = await backend.open(idOf(i), fakeCall());
      await scope.write([{ id: `f${i}`, key: 'k', text: `(1, ${i}) canary ${i}` }]);
      scopes.push(scope);
    }
    const found = await Promise.all(scopes.map((scope) => scope.search('(1, 1)', 500)));
    expect(found.map(({ items }) => items.flatMap(({ fact_ids }) => fact_ids))).toEqual(
      scopes.map((_, i) => [`f${i}`]),
    );
    for (const scope of scopes) await scope.dispose();
  });

  it('opens empty where a scope of the same id was left behind', async () => {
    const backend = await onPlane();
    await (await backend.open('same', fakeCall())).write(planeFacts);
    const again = await backend.open('same', fakeCall());
    expect(await again.list()).toEqual([]);
    await again.write(planeFacts.slice(0, 1));
    expect((await again.search('(1, 0)', 9)).items.map(({ fact_ids }) => fact_ids)).toEqual([['up']]);
  });
});
