import type { EmbeddingModelV3 } from '@ai-sdk/provider';
import { ModelError } from '../contracts/model.ts';
import { type EmbeddingReply, tokenCount } from './model-call.ts';
import type { Connection, EmbeddingClient } from './provider.ts';
import { toModelError } from './sdk-errors.ts';

/** Texts in one request. Services take more, but a smaller request is retried at a smaller price. */
const BATCH = 256;

/** An embedding client over a vendor's. A reply with another number of vectors than texts is a bad response. */
export async function sdkEmbedding(client: EmbeddingModelV3, connection: Connection): Promise<EmbeddingClient> {
  const most = (await client.maxEmbeddingsPerCall) ?? BATCH;
  return {
    maxBatch: Math.min(most, BATCH),
    embed: async (texts, { signal }) => {
      signal.throwIfAborted();
      try {
        const { embeddings, usage } = await client.doEmbed({ values: [...texts], abortSignal: signal });
        checkVectors(embeddings, texts.length, connection);
        return {
          vectors: embeddings.map((vector) => Float32Array.from(vector)),
          ...usageOf(tokenCount(usage?.tokens)),
        };
      } catch (error) {
        signal.throwIfAborted();
        throw toModelError(error, connection);
      }
    },
  };
}

const usageOf = (tokens: number | undefined): Pick<EmbeddingReply, 'usage'> => ({
  usage: tokens ? { inputTokens: tokens, outputTokens: 0 } : {},
});

function checkVectors(vectors: readonly (readonly number[])[], wanted: number, { modelId }: Connection): void {
  const size = vectors[0]?.length ?? 0;
  if (vectors.length === wanted && size > 0 && vectors.every((vector) => vector.length === size)) return;
  throw new ModelError(
    'bad_response',
    `${modelId}: ${wanted} texts came back as ${vectors.length} vectors of ${size} numbers`,
    {
      modelId,
    },
  );
}
