import { AsyncLocalStorage } from 'node:async_hooks';
import type { InMemoryStore } from '@langchain/langgraph';
import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { sha256 } from '../lib/hash.ts';
import { loadPackage } from '../lib/optional-package.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { embeddingModels, embeddingNeeds, embeddingShape, needsProvider, openEmbedder } from './embedder.ts';
import { badEmbedding } from './index/directions.ts';
import { searchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';

const LANGGRAPH = { name: '@langchain/langgraph', install: '@langchain/langgraph@1 @langchain/core@1' } as const;

const schema = z
  .strictObject({ ...namingShape, backend: z.literal('langgraph_store'), ...searchShape, ...embeddingShape })
  .superRefine(needsProvider);
export type LanggraphStoreOptions = z.infer<typeof schema>;

type StoreOptions = NonNullable<ConstructorParameters<typeof InMemoryStore>[0]>;
type Embeddings = NonNullable<StoreOptions['index']>['embeddings'];

/** The scope on whose behalf the store embeds: it hands on texts alone, and a call is needed to pay and to give up. */
const caller = new AsyncLocalStorage<CallContext>();

/** HEAMS's embedding model as the store wants one: of the class that it asks for, it uses these two methods. */
function embeddingsOf(embedder: EmbeddingModel): Embeddings {
  async function embedDocuments(texts: string[]): Promise<number[][]> {
    const call = caller.getStore();
    if (!call) throw new Error('the store embedded outside of a scope');
    const vectors = await embedder.embed(texts, call);
    if (vectors.length !== texts.length)
      throw badEmbedding(embedder.id, `${texts.length} vectors`, `${vectors.length}`);
    return vectors.map((vector) => Array.from(vector));
  }
  const embedQuery = async (text: string) => (await embedDocuments([text]))[0] as number[];
  return { embedDocuments, embedQuery } as unknown as Embeddings;
}

/** A deleted item's vectors stay in its store for good, so that a store takes this many scopes and no more. */
const SCOPES_PER_STORE = 256;

/** One namespace of the store. A label may hold neither dots nor colons, so that a scope's id is hashed. */
function openNamespace(store: InMemoryStore, scopeId: string, call: CallContext): ServiceStore {
  const namespace = ['heams', sha256(scopeId).slice(0, 32)];
  const everything = { limit: Number.MAX_SAFE_INTEGER };
  let written = 0;
  const keyOf = (seq: number) => `fact-${seq}`;
  return {
    async add(facts: readonly Fact[]) {
      const operations = facts.map(({ id, text, at, session }, i) => ({
        namespace,
        key: keyOf(written + i),
        value: { text, fact_id: id, ...(at ? { told_at: at } : {}), ...(session ? { session } : {}) },
      }));
      await caller.run(call, () => store.batch(operations));
      written += facts.length;
    },
    async all() {
      const items = await store.search(namespace, everything);
      return items.map(({ value }) => ({ text: value.text as string, fact_ids: [value.fact_id as string] }));
    },
    async find(query, k) {
      const found = await caller.run(call, () => store.search(namespace, { query, limit: k }));
      return {
        items: found.map(({ value, score }) => ({
          text: value.text as string,
          fact_ids: [value.fact_id as string],
          ...(score === undefined ? {} : { score }),
        })),
      };
    },
    async clear() {
      for (const { key } of await store.search(namespace, everything)) await store.delete(namespace, key);
      written = 0;
    },
  };
}

/** LangGraph's in-memory store, one namespace a scope, with an index over HEAMS's embeddings. */
export const langgraphStore: MemoryPlugin<LanggraphStoreOptions> = {
  name: 'langgraph_store',
  summary: "LangGraph's in-memory store with its vector index",
  needs: `the package @langchain/langgraph; for embeddings, ${embeddingNeeds}`,
  schema,
  models: embeddingModels,
  requires: () => [{ kind: 'package', ...LANGGRAPH }],
  async create(options, context) {
    const { InMemoryStore } = await loadPackage(LANGGRAPH, () => import('@langchain/langgraph'));
    const { embedder, capabilities, close } = await openEmbedder(options, context);
    const embeddings = embeddingsOf(embedder);
    // `dims` is for stores in a database: the one in memory takes vectors as they come.
    const fresh = () => new InMemoryStore({ index: { dims: 0, embeddings, fields: ['text'] } });
    let store = fresh();
    let opened = 0;
    return serviceBackend({
      name: 'langgraph_store',
      topK: options.top_k,
      clock: context.clock,
      capabilities: { stores: true, rewrites: false, provenance: true, honours_k: true, ...capabilities },
      async open(scopeId, call) {
        if (opened > 0 && opened % SCOPES_PER_STORE === 0) store = fresh();
        opened += 1;
        const namespace = openNamespace(store, scopeId, call);
        await namespace.clear();
        return namespace;
      },
      close,
    });
  },
};
