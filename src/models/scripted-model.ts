import type { CallContext } from '../contracts/call.ts';
import type { ChatModel, ChatReply, ChatRequest } from '../contracts/model.ts';

/** A whole reply, the parts of one that matter, its text alone, or what the call shall throw. */
export type ScriptedReply = string | Partial<ChatReply> | Error;

export interface ScriptedModel extends ChatModel {
  /** Every request so far, in order. */
  readonly requests: readonly ChatRequest[];
}

/**
 * A chat model that says what it is told to: a list of replies, one a call, or a function of the request and the
 * number of the call (from 0). Meters each reply as one call that costs nothing. A list that has run out is an error.
 */
export function scriptedModel(
  script: readonly ScriptedReply[] | ((request: ChatRequest, n: number) => ScriptedReply | Promise<ScriptedReply>),
  { id = 'builtin:scripted', structuredOutput = true }: { id?: string; structuredOutput?: boolean } = {},
): ScriptedModel {
  const requests: ChatRequest[] = [];
  const next = async (request: ChatRequest): Promise<ScriptedReply> => {
    const n = requests.push(request) - 1;
    if (typeof script === 'function') return script(request, n);
    return script[n] ?? new Error(`the script of ${id} has ${script.length} replies, and this is call ${n + 1}`);
  };
  return {
    id,
    structuredOutput,
    requests,
    generate: async (request: ChatRequest, call: CallContext): Promise<ChatReply> => {
      call.signal.throwIfAborted();
      const scripted = await next(request);
      if (scripted instanceof Error) throw scripted;
      const { inputTokens = 0, outputTokens = 0 } = typeof scripted === 'string' ? {} : (scripted.usage ?? {});
      call.meter.add(call.stage, { calls: 1, input_tokens: inputTokens, output_tokens: outputTokens });
      const given = typeof scripted === 'string' ? { text: scripted } : scripted;
      const finishReason = given.toolRequests?.length ? 'tool_calls' : 'stop';
      return { text: '', toolRequests: [], finishReason, usage: {}, warnings: [], ...given };
    },
  };
}
