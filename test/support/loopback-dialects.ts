import { createHash } from 'node:crypto';
import type { Json } from '../../src/schema/json.ts';

/** A chat request in OpenAI's shape; the other dialects are read into it. */
export interface ChatBody {
  model: string;
  messages: { role: string; content: string; tool_calls?: Json; tool_call_id?: string }[];
  tools?: Json[];
  temperature?: number;
  top_p?: number;
  seed?: number;
  max_tokens?: number;
  response_format?: { type: string; json_schema?: { name: string; schema: Json } };
}

export interface ReplyParts {
  text: string;
  finishReason: string;
  toolCalls: { id: string; name: string; input: Json }[];
  /** In tokens. */
  usage?: { input: number; output: number };
}

type Body = { [key: string]: Json };

export type Dialect =
  | {
      kind: 'chat';
      read(request: { path: string; body: Body }): ChatBody;
      render(body: ChatBody, reply: ReplyParts, n: number): Json;
    }
  | { kind: 'embeddings'; render(body: Body): Json };

/** The dialect that a path belongs to. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return openai;
  if (path.endsWith('/messages')) return anthropic;
  if (path.endsWith(':generateContent')) return gemini;
  if (path.endsWith('/embeddings')) return { kind: 'embeddings', render: renderOpenaiEmbeddings };
  if (path.endsWith(':batchEmbedContents')) return { kind: 'embeddings', render: renderGeminiBatch };
  if (path.endsWith(':embedContent')) return { kind: 'embeddings', render: renderGeminiSingle };
  return undefined;
}

const openai: Dialect = {
  kind: 'chat',
  read: ({ body }) => ({ ...(body as unknown as ChatBody), messages: flatten(body.messages) }),
  render: (body, reply, n) => ({
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: body.model,
    choices: [
      {
        index: 0,
        finish_reason: reply.finishReason,
        message: {
          role: 'assistant',
          content: reply.text,
          ...(reply.toolCalls.length === 0
            ? {}
            : {
                tool_calls: reply.toolCalls.map(({ id, name, input }) => ({
                  id,
                  type: 'function',
                  function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
                })),
              }),
        },
      },
    ],
    ...(reply.usage
      ? {
          usage: {
            prompt_tokens: reply.usage.input,
            completion_tokens: reply.usage.output,
            total_tokens: reply.usage.input + reply.usage.output,
          },
        }
      : {}),
  }),
};

const anthropicReasons: Record<string, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  content_filter: 'refusal',
  tool_calls: 'tool_use',
};

const anthropic: Dialect = {
  kind: 'chat',
  read: ({ body }) => {
    const format = (body.output_config as Body | undefined)?.format as Body | undefined;
    return {
      ...(body as unknown as ChatBody),
      messages: flatten([...(body.system ? [{ role: 'system', content: body.system }] : []), ...list(body.messages)]),
      ...(format ? { response_format: asked('response', format.schema) } : {}),
    };
  },
  render: (body, reply, n) => ({
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [
      ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
      ...reply.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ],
    stop_reason: anthropicReasons[reply.finishReason] ?? reply.finishReason,
    stop_sequence: null,
    usage: { input_tokens: reply.usage?.input ?? 0, output_tokens: reply.usage?.output ?? 0 },
  }),
};

const geminiReasons: Record<string, string> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  tool_calls: 'STOP',
};

const gemini: Dialect = {
  kind: 'chat',
  read: ({ path, body }) => {
    const settings = (body.generationConfig ?? {}) as Body;
    const system = (body.systemInstruction as Body | undefined)?.parts;
    return {
      ...(settings as Pick<ChatBody, 'temperature' | 'seed'>),
      model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
      messages: flatten([
        ...(system ? [{ role: 'system', content: system }] : []),
        ...list(body.contents).map((turn) => ({
          role: (turn as Body).role ?? 'user',
          content: (turn as Body).parts ?? [],
        })),
      ]),
      ...(settings.responseSchema ? { response_format: asked('response', settings.responseSchema) } : {}),
    };
  },
  render: (body, reply) => ({
    candidates: [
      {
        index: 0,
        finishReason: geminiReasons[reply.finishReason] ?? reply.finishReason,
        content: {
          role: 'model',
          parts: [
            ...(reply.text === '' ? [] : [{ text: reply.text }]),
            ...reply.toolCalls.map(({ name, input }) => ({
              functionCall: { name, args: input },
              thoughtSignature: `signature-of-${name}`,
            })),
          ],
        },
      },
    ],
    modelVersion: `${body.model}-001`,
    ...(reply.usage
      ? {
          usageMetadata: {
            promptTokenCount: reply.usage.input,
            candidatesTokenCount: reply.usage.output,
            totalTokenCount: reply.usage.input + reply.usage.output,
          },
        }
      : {}),
  }),
};

function asked(name: string, schema: Json | undefined): NonNullable<ChatBody['response_format']> {
  return { type: 'json_schema', json_schema: { name, schema: schema ?? {} } };
}

/** Messages whose content is text, whatever parts it came in. */
function flatten(messages: Json | undefined): ChatBody['messages'] {
  return list(messages).map((message) => {
    const { content, ...rest } = message as Body;
    return { ...(rest as { role: string }), content: textOf(content ?? '') };
  });
}

function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => String((part as Body).text ?? ''))
    .join('');
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

const EMBEDDING_SIZE = 64;

function renderOpenaiEmbeddings(body: Body): Json {
  const texts = (Array.isArray(body.input) ? body.input : [body.input ?? '']).map(String);
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return {
    object: 'list',
    model: body.model ?? '',
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function renderGeminiBatch(body: Body): Json {
  return { embeddings: list(body.requests).map((request) => ({ values: vectorOf(geminiText(request as Body)) })) };
}

function renderGeminiSingle(body: Body): Json {
  return { embedding: { values: vectorOf(geminiText(body)) } };
}

function geminiText(request: Body): string {
  return textOf((request.content as Body).parts ?? []);
}

/** A unit vector that counts words in hashed places, so that texts that share words lie near each other. */
export function vectorOf(text: string): number[] {
  const vector = new Array<number>(EMBEDDING_SIZE).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const place = createHash('sha256').update(word).digest().readUInt32LE(0) % EMBEDDING_SIZE;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
