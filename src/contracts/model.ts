import { HeamsError } from '../lib/errors.ts';
import type { Json } from '../schema/json.ts';
import type { CallContext } from './call.ts';

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON schema of the input object. */
  inputSchema: { [key: string]: Json };
}

export interface ToolRequest {
  id: string;
  name: string;
  input: Json;
  /** What the provider wants back with the tool's result (Gemini's thought signature); nobody else reads it. */
  providerMetadata?: Json;
}

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolRequests?: ToolRequest[] }
  | { role: 'tool'; id: string; name: string; content: string };

export interface ChatRequest {
  messages: ChatMessage[];
  tools?: ToolSpec[];
  /** `none`: the tools stay declared, as some providers demand once a transcript has calls, but may not be called. */
  toolChoice?: 'none';
  /** Asks for JSON of this schema, where the model takes one; the reply's text is then JSON. */
  jsonSchema?: { name: string; schema: { [key: string]: Json } };
  /** Overrides the configured limit on output tokens. */
  maxTokens?: number;
}

/** `cut_off`: the reply ended at the token limit. `refused`: the provider's filter or the model declined. */
export type FinishReason = 'stop' | 'cut_off' | 'refused' | 'tool_calls' | 'other';

export interface ChatReply {
  text: string;
  toolRequests: ToolRequest[];
  finishReason: FinishReason;
  /** Absent where the server reports none; never a zero in its place. */
  usage: { inputTokens?: number; outputTokens?: number; cachedInputTokens?: number };
  /** The model as the server names it. */
  modelVersion?: string;
  warnings: string[];
}

/**
 * A chat model behind its wrappers. Throws `ModelError` when the call cannot be answered.
 */
export interface ChatModel {
  /** `provider:model`, as configured. */
  readonly id: string;
  /** Whether a `jsonSchema` travels as one; where not, the client puts it in words. Callers always pass it. */
  readonly structuredOutput: boolean;
  generate(request: ChatRequest, call: CallContext): Promise<ChatReply>;
}

export interface EmbeddingModel {
  readonly id: string;
  /** One vector a text, in order. */
  embed(texts: readonly string[], call: CallContext): Promise<Float32Array[]>;
  close?(): Promise<void>;
}

/**
 * Why a call failed. `auth`, `quota`, `not_found` and `bad_request` do not pass by themselves and are never retried;
 * `rate_limit`, `server`, `network`, `timeout` and `bad_response` are.
 */
export type ModelErrorKind =
  | 'auth'
  | 'quota'
  | 'not_found'
  | 'bad_request'
  | 'rate_limit'
  | 'server'
  | 'network'
  | 'timeout'
  | 'bad_response';

const retryable: ReadonlySet<ModelErrorKind> = new Set(['rate_limit', 'server', 'network', 'timeout', 'bad_response']);

/** A model call that was not answered. */
export class ModelError extends HeamsError {
  readonly kind: ModelErrorKind;
  readonly modelId: string;
  readonly status: number | undefined;
  /** What the server asked for in Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { modelId: string; status?: number; retryAfterMs?: number; hint?: string; cause?: unknown },
  ) {
    super(message, {
      code: `model_${kind}`,
      ...(options.hint === undefined ? {} : { hint: options.hint }),
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    });
    this.kind = kind;
    this.modelId = options.modelId;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }

  get retryable(): boolean {
    return retryable.has(this.kind);
  }
}

/** A limit of the run's budget is reached: the run stops cleanly, and nothing is recorded for what was under way. */
export class BudgetError extends HeamsError {
  constructor(message: string) {
    super(message, {
      code: 'budget_reached',
      hint: 'raise the limit and run the same command again: what is done is kept',
    });
  }
}
