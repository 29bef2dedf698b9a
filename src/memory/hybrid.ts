import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { denseBackend } from './dense-backend.ts';
import { embeddingModels, embeddingNeeds, embeddingShape, needsProvider } from './embedder.ts';
import { denseIndex } from './index/dense-index.ts';
import { keywordIndex } from './index/keyword-index.ts';
import { fuseRankings } from './index/rank-fusion.ts';
import type { TextIndex } from './index/text-index.ts';
import { searchShape } from './options.ts';

const schema = z
  .strictObject({ ...namingShape, backend: z.literal('hybrid'), ...searchShape, ...embeddingShape })
  .superRefine(needsProvider);
export type HybridOptions = z.infer<typeof schema>;

/** Keyword search and search by meaning, merged by reciprocal rank fusion. */
export const hybrid: MemoryPlugin<HybridOptions> = {
  name: 'hybrid',
  summary: 'keyword search and search by meaning, merged by rank',
  needs: embeddingNeeds,
  schema,
  models: embeddingModels,
  create: (options, context) =>
    denseBackend({
      name: 'hybrid',
      options,
      context,
      index: (embedder, call) => fusedIndex(keywordIndex(), denseIndex(embedder, call)),
    }),
};

function fusedIndex(keywords: TextIndex, dense: TextIndex): TextIndex {
  return {
    async add(texts) {
      // The embeddings first: they can fail, and then neither index may hold the texts.
      await dense.add(texts);
      await keywords.add(texts);
    },
    async search(query, k) {
      const everything = Number.POSITIVE_INFINITY;
      return fuseRankings([await keywords.search(query, everything), await dense.search(query, everything)], k);
    },
  };
}
