import type { CallContext } from '../../contracts/call.ts';
import type { EmbeddingModel } from '../../contracts/model.ts';
import { HeamsError } from '../../lib/errors.ts';
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

  async function embed(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    const vectors = await embedder.embed(texts, call);
    if (vectors.length !== texts.length) {
      throw badEmbedding(embedder.id, `${texts.length} vectors`, `${vectors.length}`);
    }
    return vectors.map((vector) => direction(vector, embedder.id));
  }

  return {
    async add(texts) {
      if (texts.length > 0) directions.push(...(await embed(texts)));
    },
    async search(query, k) {
      if (directions.length === 0) return [];
      const [wanted] = await embed([query]);
      if (!wanted) return [];
      const hits: Required<Hit>[] = [];
      for (const [position, found] of directions.entries()) {
        if (found) hits.push({ position, score: dot(wanted, found, embedder.id) });
      }
      return best(hits, k);
    },
  };
}

function direction(vector: Float32Array, modelId: string): Float32Array | undefined {
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length)) throw badEmbedding(modelId, 'finite numbers', 'a vector with NaN or Infinity');
  return length === 0 ? undefined : vector.map((x) => x / length);
}

function dot(a: Float32Array, b: Float32Array, modelId: string): number {
  if (a.length !== b.length) throw badEmbedding(modelId, `${a.length} dimensions`, `${b.length}`);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function badEmbedding(modelId: string, expected: string, found: string): HeamsError {
  return new HeamsError(`the embedding model ${modelId} gave an unusable answer`, {
    code: 'embedding_bad_response',
    expected,
    found,
  });
}
