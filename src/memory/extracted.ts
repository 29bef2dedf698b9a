import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatModel, EmbeddingModel } from '../contracts/model.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { template } from '../lib/template.ts';
import { namingShape } from '../schema/naming.ts';
import type { StoredItem } from '../schema/record.ts';
import { embeddingModels, embeddingShape, needsProvider, openEmbedder } from './embedder.ts';
import { type ExtractionPrompts, extractFacts } from './extract-facts.ts';
import { denseIndex } from './index/dense-index.ts';
import { llmSchema, llmUse, openLlm, withLlmIdentity } from './memory-llm.ts';
import { searchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';
import { sessionsOf, toldVariables } from './told-facts.ts';

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('extracted'),
    ...searchShape,
    ...embeddingShape,
    /** The model that extracts. */
    llm: llmSchema,
    /** Templates over `facts`, each with its `number`, `session` and `at`. */
    system_prompt: z.string().min(1),
    user_prompt: z.string().min(1),
    /** What the model is told where its reply could not be read; a template over `problem`. */
    retry_prompt: z.string().min(1),
  })
  .superRefine(needsProvider);
export type ExtractedOptions = z.infer<typeof schema>;

/** A model extracts atomic facts, once for each session; they are found by the cosine of sentence embeddings. */
export const extracted: MemoryPlugin<ExtractedOptions> = {
  name: 'extracted',
  summary: 'atomic facts that a model extracts, with search by meaning over them',
  needs: "a model: its provider's key, or a local server",
  schema,
  models: (options) => [llmUse(options.llm, 'extraction of facts'), ...embeddingModels(options)],
  templates: ({ system_prompt, user_prompt, retry_prompt }) => [
    { path: ['system_prompt'], source: system_prompt, variables: toldVariables },
    { path: ['user_prompt'], source: user_prompt, variables: toldVariables, requires: ['facts'] },
    { path: ['retry_prompt'], source: retry_prompt, variables: ['problem'] },
  ],
  identity: withLlmIdentity,
  async create(options, context) {
    const { model, capabilities: asked } = await openLlm(options.llm, context);
    const { embedder, capabilities: embeds, close } = await openEmbedder(options, context);
    const prompts = {
      system: template(options.system_prompt),
      user: template(options.user_prompt),
      retry: template(options.retry_prompt),
    };
    return serviceBackend({
      name: 'extracted',
      givesUpWrites: true,
      topK: options.top_k,
      clock: context.clock,
      capabilities: {
        stores: true,
        rewrites: true,
        provenance: true,
        honours_k: true,
        needs_network: asked.needs_network || embeds.needs_network,
        needs_key: asked.needs_key || embeds.needs_key,
      },
      open: async (_scopeId, call) => openScope({ model, embedder, prompts, call }),
      close,
    });
  },
};

interface ScopeParts {
  model: ChatModel;
  embedder: EmbeddingModel;
  prompts: ExtractionPrompts;
  /** Pays for the extraction and the embeddings. */
  call: CallContext;
}

function openScope({ model, embedder, prompts, call }: ScopeParts): ServiceStore {
  let kept: StoredItem[] = [];
  let index = denseIndex(embedder, call);
  return {
    async add(facts) {
      const found: StoredItem[] = [];
      for (const session of sessionsOf(facts)) found.push(...(await extractFacts({ model, prompts, call }, session)));
      await index.add(found.map(({ text }) => text));
      kept.push(...found);
    },
    all: async () => [...kept],
    async find(query, k) {
      const hits = await index.search(query, k);
      return { items: hits.map(({ position, ...hit }) => ({ ...(kept[position] as StoredItem), ...hit })) };
    },
    async clear() {
      kept = [];
      index = denseIndex(embedder, call);
    },
  };
}
