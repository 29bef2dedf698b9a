import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { embeddingModels, embeddingNeeds, embeddingShape, needsProvider, openEmbedder } from './embedder.ts';
import { denseIndex } from './index/dense-index.ts';
import { indexedBackend } from './indexed-backend.ts';
import { namingShape, searchShape } from './options.ts';

const schema = z
  .strictObject({ ...namingShape, backend: z.literal('vector'), ...searchShape, ...embeddingShape })
  .superRefine(needsProvider);
export type VectorOptions = z.infer<typeof schema>;

/** Search by meaning: the cosine of sentence embeddings, over every fact of the scope. */
export const vector: MemoryPlugin<VectorOptions> = {
  name: 'vector',
  summary: 'search by meaning (sentence embeddings), offline by default',
  needs: embeddingNeeds,
  schema,
  models: embeddingModels,
  async create(options, context) {
    const { embedder, capabilities, close } = await openEmbedder(options, context);
    return indexedBackend({
      name: 'vector',
      topK: options.top_k,
      capabilities,
      index: (call) => denseIndex(embedder, call),
      close,
    });
  },
};
