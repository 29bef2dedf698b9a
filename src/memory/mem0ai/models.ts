import type { CallContext } from '../../contracts/call.ts';
import type { ChatModel, EmbeddingModel } from '../../contracts/model.ts';
import { HeamsError } from '../../lib/errors.ts';
import type { Json } from '../../schema/json.ts';

/**
 * HEAMS's models as mem0 calls them. mem0 goes on after a failed call, prints it, tries each text once more and stores
 * what is left; so a failure is kept here, mem0 is given an empty answer, and `settle` throws once mem0 is done.
 */
export interface Mem0Models {
  embedder: { embed(text: string): Promise<number[]>; embedBatch(texts: string[]): Promise<number[][]> };
  llm: {
    generateResponse(messages: { role: string; content: unknown }[]): Promise<string>;
    generateChat(): Promise<never>;
  };
  /** Embeds in one request what mem0 is about to embed one at a time. */
  ahead(texts: readonly string[]): Promise<void>;
  /** Dimensions of the embeddings; known once something was embedded. */
  dimension(): number;
  /** @throws what a model threw since the last time. */
  settle(): void;
}

export interface Mem0ModelsOptions {
  embedder: EmbeddingModel;
  /** Absent where mem0 is not to infer anything. */
  llm: ChatModel | undefined;
  call: CallContext;
}

const strings = { type: 'array', items: { type: 'string' } };

/** What mem0's extraction prompt asks for. */
const extraction: { [key: string]: Json } = {
  type: 'object',
  properties: {
    memory: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          text: { type: 'string' },
          attributed_to: { type: 'string', enum: ['user', 'assistant'] },
          linked_memory_ids: strings,
        },
        required: ['id', 'text', 'attributed_to', 'linked_memory_ids'],
        additionalProperties: false,
      },
    },
  },
  required: ['memory'],
  additionalProperties: false,
};
const NOTHING_EXTRACTED = '{"memory":[]}';

export function mem0Models({ embedder, llm, call }: Mem0ModelsOptions): Mem0Models {
  const known = new Map<string, number[]>();
  let dimension = 0;
  let failure: { error: unknown } | undefined;

  async function embed(texts: readonly string[]): Promise<number[][]> {
    const missing = [...new Set(texts)].filter((text) => !known.has(text));
    const vectors = missing.length === 0 ? [] : await embedder.embed(missing, call);
    const fresh = new Map(missing.map((text, i) => [text, Array.from(vectors[i] as Float32Array)]));
    return texts.map((text) => fresh.get(text) ?? (known.get(text) as number[]));
  }

  async function orKeep<T>(work: () => Promise<T>, empty: () => T): Promise<T> {
    if (failure) return empty();
    try {
      return await work();
    } catch (error) {
      failure = { error };
      return empty();
    }
  }
  const zeros = () => new Array<number>(dimension).fill(0);

  return {
    embedder: {
      embed: (text) => orKeep(async () => (await embed([text]))[0] as number[], zeros),
      embedBatch: (texts) =>
        orKeep(
          () => embed(texts),
          () => texts.map(zeros),
        ),
    },
    llm: {
      generateResponse: (messages) =>
        orKeep(
          () => extracted(llm, messages, call),
          () => NOTHING_EXTRACTED,
        ),
      generateChat: () => Promise.reject(new Error('mem0 is not to chat here')),
    },
    async ahead(texts) {
      const vectors = await embed(texts);
      known.clear();
      for (const [i, text] of texts.entries()) known.set(text, vectors[i] as number[]);
      dimension = vectors[0]?.length ?? dimension;
    },
    dimension: () => dimension,
    settle() {
      if (!failure) return;
      const { error } = failure;
      failure = undefined;
      throw error;
    },
  };
}

/** mem0 takes an answer that it cannot read for one that says there is nothing to keep. */
async function extracted(
  llm: ChatModel | undefined,
  messages: { role: string; content: unknown }[],
  call: CallContext,
): Promise<string> {
  if (!llm) throw new Error('mem0 asked a model though it is not to infer anything');
  const said = messages.map(({ role, content }) => ({
    role: role === 'system' ? ('system' as const) : ('user' as const),
    content: String(content),
  }));
  const reply = await llm.generate({ messages: said, jsonSchema: { name: 'memories', schema: extraction } }, call);
  if (reply.finishReason !== 'cut_off' && readable(reply.text)) return reply.text;
  throw new HeamsError(`${llm.id}: mem0 cannot read what was extracted`, {
    code: 'memory_unreadable_extraction',
    expected: 'JSON with a list named "memory"',
    found: reply.finishReason === 'cut_off' ? 'an answer cut off at the token limit' : reply.text.slice(0, 200),
    hint: 'raise max_tokens, or take a model that keeps to a JSON schema',
  });
}

/** mem0 itself looks for the first JSON object in the text, whatever stands around it. */
function readable(text: string): boolean {
  try {
    const parsed = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as { memory?: unknown } | null;
    return Array.isArray(parsed?.memory);
  } catch {
    return false;
  }
}
