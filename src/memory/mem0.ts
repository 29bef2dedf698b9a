import type { Memory } from 'mem0ai/oss';
import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatModel } from '../contracts/model.ts';
import type { MemoryPlugin, ModelUse, PluginContext } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Json } from '../schema/json.ts';
import { modelSettings, modelSettingsShape, outcomeShaping } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { embeddingModels, embeddingNeeds, embeddingShape, needsProvider, openEmbedder } from './embedder.ts';
import { addBySchema, addsOf, storedOf } from './mem0ai/adds.ts';
import { forgetMem0, loadMem0, type Mem0Library, mem0Error, mem0Packages, openMem0 } from './mem0ai/library.ts';
import { mem0Models } from './mem0ai/models.ts';
import { searchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('mem0'),
    ...searchShape,
    ...embeddingShape,
    /** False: facts are kept as they are. True: a model extracts what is kept. */
    infer: z.boolean().default(false),
    /** With `infer: true`: the model that extracts. */
    llm: z.strictObject({ model_id: z.string().min(1), ...modelSettingsShape }).optional(),
    /** With `infer: true`: one call of that model for each fact, or one for each session. */
    add_by: addBySchema.optional(),
    /** With `infer: true`: added to mem0's own prompt. */
    custom_instructions: z.string().min(1).optional(),
    /** Hits that score less are dropped; at 0 none are. mem0's own default is 0.1. */
    threshold: z.number().min(0).max(1).default(0),
  })
  .superRefine(needsProvider)
  .superRefine((options, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (options.infer && !options.llm) wrong('llm', 'infer: true needs llm with a model_id: it extracts what is kept');
    for (const key of ['llm', 'add_by', 'custom_instructions'] as const) {
      if (!options.infer && options[key] !== undefined) wrong(key, `${key} needs infer: true`);
    }
  });
export type Mem0Options = z.infer<typeof schema>;

function models(options: Mem0Options): ModelUse[] {
  if (!options.llm) return embeddingModels(options);
  const settings = modelSettings(options.llm.model_id, options.llm);
  return [
    ...embeddingModels(options),
    { path: ['llm', 'model_id'], settings, kind: 'chat', role: 'extraction of memories' },
  ];
}

/** mem0 in this process. Its models are HEAMS's own, so that retries, limits, budgets and prices hold for them. */
export const mem0: MemoryPlugin<Mem0Options> = {
  name: 'mem0',
  summary: 'mem0 in this process: facts as they are, or what a model extracts from them',
  needs: `the package mem0ai; ${embeddingNeeds}; with infer: true a chat model`,
  schema,
  models,
  requires: () => mem0Packages.map((one) => ({ kind: 'package' as const, ...one })),
  identity: ({ llm, ...options }) => ({ ...outcomeShaping(options), ...(llm ? { llm: outcomeShaping(llm) } : {}) }),
  create,
};

async function create(options: Mem0Options, context: PluginContext) {
  const library = await loadMem0();
  const { embedder, capabilities, close } = await openEmbedder(options, context);
  const { llm: settings, infer, add_by: addBy = 'fact' } = options;
  const llm = settings && (await context.model(modelSettings(settings.model_id, settings)));
  const llmNeedsKey = settings && !(settings.model_id.startsWith('openai-compatible:') && !settings.api_key_env);
  return serviceBackend({
    name: 'mem0',
    givesUpWrites: true,
    topK: options.top_k,
    capabilities: {
      stores: true,
      rewrites: infer,
      provenance: addBy === 'fact',
      honours_k: true,
      needs_network: capabilities.needs_network || llm !== undefined,
      needs_key: capabilities.needs_key || llmNeedsKey === true,
    },
    clock: context.clock,
    open: async (scopeId, call) => new Mem0Store({ library, options, llm, scopeId, call, embedder }),
    close,
  });
}

interface StoreParts {
  library: Mem0Library;
  options: Mem0Options;
  llm: ChatModel | undefined;
  embedder: Parameters<typeof mem0Models>[0]['embedder'];
  scopeId: string;
  call: CallContext;
}

/** More than any scope holds. */
const EVERYTHING = 100_000;

class Mem0Store implements ServiceStore {
  readonly #parts: StoreParts;
  readonly #models: ReturnType<typeof mem0Models>;
  /** Opened at the first write, when the dimension of the embeddings is known. */
  #memory: Memory | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#models = mem0Models(parts);
  }

  async add(facts: readonly Fact[]): Promise<void> {
    const { options, scopeId, library } = this.#parts;
    const { infer, add_by: by = 'fact', custom_instructions: instructions } = options;
    const adds = addsOf(facts, by, scopeId).map(({ facts: told, origin }) => ({
      messages: told.map(({ text }) => ({ role: 'user', content: text })),
      origin,
    }));
    // mem0 embeds a message as it is, or, to find what it knows of a conversation, all of it with its roles.
    const lines = (messages: { role: string; content: string }[]) =>
      infer ? messages.map(({ role, content }) => `${role}: ${content}`).join('\n') : (messages[0]?.content ?? '');
    await this.#models.ahead(adds.map(({ messages }) => lines(messages)));
    this.#memory ??= openMem0(library, { models: this.#models, infer, instructions });
    for (const { messages, origin } of adds) {
      await this.#ask((memory) => memory.add(messages, { userId: scopeId, metadata: origin, infer }), undefined);
    }
  }

  async all() {
    const { scopeId } = this.#parts;
    const filters = { user_id: scopeId };
    const { results } = await this.#ask((memory) => memory.getAll({ filters, topK: EVERYTHING }), { results: [] });
    return results.map((item) => storedOf(item, scopeId));
  }

  async find(query: string, k: number) {
    const { scopeId, options } = this.#parts;
    const { threshold } = options;
    const found = await this.#ask(
      (memory) => memory.search(query, { filters: { user_id: scopeId }, topK: k, threshold }),
      { results: [] },
    );
    const items = found.results.map((item) => ({
      ...storedOf(item, scopeId),
      ...(item.score === undefined ? {} : { score: item.score }),
    }));
    return { items, raw: JSON.parse(JSON.stringify(found)) as Json };
  }

  async clear(): Promise<void> {
    const memory = this.#memory;
    if (!memory) return;
    this.#memory = undefined;
    const filters = { user_id: this.#parts.scopeId };
    const count = await forgetMem0(memory, async () => (await memory.getAll({ filters })).results.length);
    if (count === 0) return;
    throw new HeamsError(`mem0 still holds ${count} items of a scope that was cleared`, { code: 'memory_not_cleared' });
  }

  /** What mem0 answers; `none` where nothing was written yet. */
  async #ask<T>(work: (memory: Memory) => Promise<T>, none: T): Promise<T> {
    if (!this.#memory) return none;
    let answer: T;
    try {
      answer = await work(this.#memory);
    } catch (error) {
      this.#models.settle();
      throw mem0Error(error);
    }
    this.#models.settle();
    return answer;
  }
}
