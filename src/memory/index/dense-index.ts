import type { CallContext } from '../../contracts/call.ts';
import type { EmbeddingModel } from '../../contracts/model.ts';
import { badEmbedding, directionsOf } from './directions.ts';
import { best, type Hit, type TextIndex } from './text-index.ts';

/**
 * Nearest texts by the cosine of their embeddings, by looking at every text: exact, and fast enough for the pool of
 * one sample. An embedding of length 0 has no direction: such a text is never found, and such a query finds nothing.
 *
 * @param call Who pays for the embeddings and when to give up.
 */
export function denseIndex(embedder: EmbeddingModel, call: CallContext): TextIndex {
  /** Of unit length, or undefined where a text has no direction. */
  const directions: (Float32Array | undefined)[] = [];

  return {
    async add(texts) {
      if (texts.length > 0) directions.push(...(await directionsOf(embedder, texts, call)).vectors);
    },
    async search(query, k) {
      if (directions.length === 0) return [];
      const [wanted] = (await directionsOf(embedder, [query], call)).vectors;
      if (!wanted) return [];
      const hits: Required<Hit>[] = [];
      for (const [position, found] of directions.entries()) {
        if (found) hits.push({ position, score: dot(wanted, found, embedder.id) });
      }
      return best(hits, k);
    },
  };
}

function dot(a: Float32Array, b: Float32Array, modelId: string): number {
  if (a.length !== b.length) throw badEmbedding(modelId, `${a.length} dimensions`, `${b.length}`);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
