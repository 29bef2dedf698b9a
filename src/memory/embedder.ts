import { z } from 'zod';
import type { MemoryCapabilities } from '../contracts/memory.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import type { ModelUse, PluginContext } from '../contracts/plugin.ts';
import { modelSettings, modelSettingsShape } from '../schema/model-settings.ts';
import { BUILTIN_ENCODER, borrowEncoder } from './encoder/shared.ts';

const { base_url, api_key_env, timeout_s, headers, max_connections } = modelSettingsShape;
const connectionShape = { base_url, api_key_env, timeout_s, headers, max_connections } as const;

/** Which model turns texts into vectors, and how to reach it. */
export const embeddingShape = {
  /** `provider:model`, or the encoder that comes with HEAMS and needs no network. */
  embedding_model_id: z.string().min(1).default(BUILTIN_ENCODER),
  ...connectionShape,
} as const;

const embeddingOptionsSchema = z.object(embeddingShape);
export type EmbeddingOptions = z.infer<typeof embeddingOptionsSchema>;

export const embeddingNeeds = "nothing; with embedding_model_id, that provider's key or a local server";

const isBuiltin = (options: EmbeddingOptions) => options.embedding_model_id === BUILTIN_ENCODER;

/** Refuses connection settings for the built-in encoder, which would have no effect. */
export function needsProvider(options: EmbeddingOptions, context: z.core.$RefinementCtx): void {
  if (!isBuiltin(options)) return;
  for (const key of Object.keys(connectionShape) as (keyof typeof connectionShape)[]) {
    if (options[key] === undefined) continue;
    context.addIssue({
      code: 'custom',
      path: [key],
      message: `${key} needs an embedding_model_id: ${BUILTIN_ENCODER} runs in this process`,
    });
  }
}

/** The embedding model that a config file names; none for the built-in encoder. */
export function embeddingModels(options: EmbeddingOptions): ModelUse[] {
  if (isBuiltin(options)) return [];
  const settings = modelSettings(options.embedding_model_id, options);
  return [{ path: ['embedding_model_id'], settings, kind: 'embedding', role: 'embeddings' }];
}

export interface OpenEmbedder {
  embedder: EmbeddingModel;
  capabilities: Pick<MemoryCapabilities, 'needs_network' | 'needs_key'>;
  close(): Promise<void>;
}

/** The embedding model behind a backend. `close` gives back what was opened here. */
export async function openEmbedder(options: EmbeddingOptions, context: PluginContext): Promise<OpenEmbedder> {
  if (isBuiltin(options)) {
    const encoder = borrowEncoder();
    return {
      embedder: encoder,
      capabilities: { needs_network: false, needs_key: false },
      close: () => encoder.close(),
    };
  }
  const embedder = await context.embedder(modelSettings(options.embedding_model_id, options));
  const keyless = options.embedding_model_id.startsWith('openai-compatible:') && options.api_key_env === undefined;
  return {
    embedder,
    capabilities: { needs_network: true, needs_key: !keyless },
    close: async () => embedder.close?.(),
  };
}
