import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  LanguageModelV3ToolCallPart,
  SharedV3ProviderMetadata,
  SharedV3Warning,
} from '@ai-sdk/provider';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type FinishReason,
  ModelError,
  type ToolRequest,
} from '../contracts/model.ts';
import type { Json } from '../schema/json.ts';
import { type TokenUsage, tokenCount } from './model-call.ts';
import type { Connection } from './provider.ts';
import { toModelError } from './sdk-errors.ts';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'cut_off',
  'content-filter': 'refused',
  'tool-calls': 'tool_calls',
};

/** What a server says when it takes no JSON schema. */
const rejectsSchema = /response_format|json_schema|response_?schema|output_config|json mode|structured output|grammar/i;

/**
 * A `ChatModel` over a vendor's client. When the server rejects the JSON schema, the same call is asked again with the
 * schema in words, and the model counts as one without structured output from then on; the reply carries a warning.
 */
export function sdkChat(client: LanguageModelV3, connection: Connection): ChatModel {
  let structuredOutput = connection.settings.structured_output ?? true;
  const ask = async (request: ChatRequest, signal: AbortSignal): Promise<ChatReply> => {
    signal.throwIfAborted();
    try {
      return toReply(await client.doGenerate(toOptions(request, connection, signal)), connection);
    } catch (error) {
      signal.throwIfAborted();
      throw toModelError(error, connection);
    }
  };
  return {
    id: connection.modelId,
    get structuredOutput() {
      return structuredOutput;
    },
    generate: async (request, { signal }) => {
      if (request.jsonSchema === undefined) return ask(request, signal);
      if (!structuredOutput) return ask(inWords(request), signal);
      try {
        return await ask(request, signal);
      } catch (error) {
        if (!(error instanceof ModelError && error.kind === 'bad_request' && rejectsSchema.test(error.message)))
          throw error;
        const reply = await ask(inWords(request), signal);
        structuredOutput = false;
        return {
          ...reply,
          warnings: [...reply.warnings, `the server rejected the JSON schema, asked in words: ${error.message}`],
        };
      }
    },
  };
}

/** The same request with the schema as the last words of the conversation. */
function inWords({ jsonSchema, messages, ...rest }: ChatRequest): ChatRequest {
  const words = `Answer with one JSON object and nothing else. It must fit this JSON schema:\n${JSON.stringify(jsonSchema?.schema)}`;
  const last = messages.at(-1);
  if (last?.role !== 'user') return { ...rest, messages: [...messages, { role: 'user', content: words }] };
  return { ...rest, messages: [...messages.slice(0, -1), { role: 'user', content: `${last.content}\n\n${words}` }] };
}

function toOptions(request: ChatRequest, { settings }: Connection, signal: AbortSignal): LanguageModelV3CallOptions {
  const maxOutputTokens = request.maxTokens ?? settings.max_tokens;
  return {
    prompt: request.messages.map(toMessage),
    abortSignal: signal,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.top_p === undefined ? {} : { topP: settings.top_p }),
    ...(settings.seed === undefined ? {} : { seed: settings.seed }),
    ...(request.jsonSchema ? { responseFormat: { type: 'json', ...request.jsonSchema } } : {}),
    ...(request.toolChoice === undefined ? {} : { toolChoice: { type: request.toolChoice } }),
    ...(request.tools?.length ? { tools: request.tools.map((tool) => ({ type: 'function', ...tool })) } : {}),
  };
}

function toMessage(message: ChatMessage): LanguageModelV3Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] };
    case 'tool': {
      const output = { type: 'text' as const, value: message.content };
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: message.id, toolName: message.name, output }],
      };
    }
    case 'assistant': {
      const calls = (message.toolRequests ?? []).map(toToolCall);
      const text = message.content === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text: message.content }];
      return { role: 'assistant', content: [...text, ...calls] };
    }
  }
}

function toToolCall(request: ToolRequest): LanguageModelV3ToolCallPart {
  const providerOptions = request.providerMetadata as SharedV3ProviderMetadata | undefined;
  return {
    type: 'tool-call',
    toolCallId: request.id,
    toolName: request.name,
    input: request.input,
    ...(providerOptions ? { providerOptions } : {}),
  };
}

function toReply(result: LanguageModelV3GenerateResult, connection: Connection): ChatReply {
  const { content, finishReason, response } = result;
  if (content.length === 0 && finishReason.raw === undefined) {
    throw new ModelError('bad_response', `${connection.modelId}: the server's answer holds no choices`, {
      modelId: connection.modelId,
    });
  }
  const toolRequests = content.flatMap(toToolRequest);
  const reason = finishReasons[finishReason.unified] ?? 'other';
  const body = response?.body as { modelVersion?: unknown } | undefined;
  const version = response?.modelId ?? body?.modelVersion;
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolRequests,
    // Some local servers say "stop" beside tool calls.
    finishReason: toolRequests.length > 0 && (reason === 'stop' || reason === 'other') ? 'tool_calls' : reason,
    usage: toUsage(result),
    ...(typeof version === 'string' ? { modelVersion: version } : {}),
    warnings: result.warnings.map(toWarning),
  };
}

function toToolRequest(part: LanguageModelV3Content): ToolRequest[] {
  if (part.type !== 'tool-call' || part.providerExecuted) return [];
  const { toolCallId: id, toolName: name, providerMetadata } = part;
  const given = providerMetadata ? { providerMetadata: providerMetadata as Json } : {};
  return [{ id, name, input: parseInput(part.input), ...given }];
}

/** Arguments that are not JSON stay text, so that whoever runs the tool can tell the model so. */
function parseInput(text: string): Json {
  try {
    return JSON.parse(text === '' ? '{}' : text) as Json;
  } catch {
    return text;
  }
}

/** Clients put 0 where a server reports nothing. No prompt has 0 tokens, so 0 there means that nothing was reported. */
function toUsage({ usage }: LanguageModelV3GenerateResult): TokenUsage {
  const [input, output] = [tokenCount(usage.inputTokens.total), tokenCount(usage.outputTokens.total)];
  const cached = tokenCount(usage.inputTokens.cacheRead);
  if (!input || output === undefined) return {};
  return { inputTokens: input, outputTokens: output, ...(cached ? { cachedInputTokens: cached } : {}) };
}

function toWarning(warning: SharedV3Warning): string {
  if (warning.type === 'other') return warning.message;
  return `${warning.type}: ${warning.feature}${warning.details === undefined ? '' : ` (${warning.details})`}`;
}
