import type { CallContext } from '../contracts/call.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import type { PluginContext } from '../contracts/plugin.ts';
import { type EmbeddingOptions, openEmbedder } from './embedder.ts';
import type { TextIndex } from './index/text-index.ts';
import { indexedBackend } from './indexed-backend.ts';

interface DenseBackend {
  name: string;
  options: EmbeddingOptions & { top_k: number };
  context: PluginContext;
  index(embedder: EmbeddingModel, call: CallContext): TextIndex;
}

/** A backend over an index that embeds: the embedded encoder, or a provider's model. */
export async function denseBackend({ name, options, context, index }: DenseBackend): Promise<MemoryBackend> {
  const { embedder, capabilities, close } = await openEmbedder(options, context);
  return indexedBackend({ name, topK: options.top_k, capabilities, index: (call) => index(embedder, call), close });
}
