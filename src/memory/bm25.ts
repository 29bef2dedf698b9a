import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { bm25Defaults, keywordIndex } from './index/keyword-index.ts';
import { indexedBackend } from './indexed-backend.ts';
import { searchShape } from './options.ts';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('bm25'),
  ...searchShape,
  k1: z.number().nonnegative().default(bm25Defaults.k1),
  b: z.number().min(0).max(1).default(bm25Defaults.b),
});
export type Bm25Options = z.infer<typeof schema>;

/** Keyword search. It finds the words of the task and misses paraphrases; it may find fewer than `top_k`. */
export const bm25: MemoryPlugin<Bm25Options> = {
  name: 'bm25',
  summary: 'keyword search (Okapi BM25)',
  needs: 'nothing',
  schema,
  create: async (options) =>
    indexedBackend({
      name: 'bm25',
      topK: options.top_k,
      index: () => keywordIndex({ k1: options.k1, b: options.b }),
    }),
};
