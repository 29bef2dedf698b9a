import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { denseBackend } from './dense-backend.ts';
import { embeddingModels, embeddingNeeds, embeddingShape, needsProvider } from './embedder.ts';
import { denseIndex } from './index/dense-index.ts';
import { searchShape } from './options.ts';

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
  create: (options, context) => denseBackend({ name: 'vector', options, context, index: denseIndex }),
};
