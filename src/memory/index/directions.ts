import type { CallContext } from '../../contracts/call.ts';
import type { EmbeddingModel } from '../../contracts/model.ts';
import { HeamsError } from '../../lib/errors.ts';

export interface Directions {
  /** Length of every vector. */
  dimensions: number;
  /** Of unit length, one a text in order; undefined where a text has no direction. */
  vectors: (Float32Array | undefined)[];
}

/**
 * The embeddings of some texts, scaled to unit length. An embedding of length 0 has no direction: such a text is never
 * found, and such a query finds nothing.
 *
 * @throws HeamsError `embedding_bad_response` where the model gives something else than one finite vector a text.
 */
export async function directionsOf(
  embedder: EmbeddingModel,
  texts: readonly string[],
  call: CallContext,
): Promise<Directions> {
  const found = await embedder.embed(texts, call);
  if (found.length !== texts.length) throw badEmbedding(embedder.id, `${texts.length} vectors`, `${found.length}`);
  const dimensions = found[0]?.length ?? 0;
  const odd = found.find((vector) => vector.length !== dimensions);
  if (odd) throw badEmbedding(embedder.id, `${dimensions} dimensions`, `${odd.length}`);
  return { dimensions, vectors: found.map((vector) => direction(vector, embedder.id)) };
}

function direction(vector: Float32Array, modelId: string): Float32Array | undefined {
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length)) throw badEmbedding(modelId, 'finite numbers', 'a vector with NaN or Infinity');
  return length === 0 ? undefined : vector.map((x) => x / length);
}

export function badEmbedding(modelId: string, expected: string, found: string): HeamsError {
  return new HeamsError(`the embedding model ${modelId} gave an unusable answer`, {
    code: 'embedding_bad_response',
    expected,
    found,
  });
}
