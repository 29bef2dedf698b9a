import type { CallContext } from '../contracts/call.ts';
import type { ChatReply, ChatRequest } from '../contracts/model.ts';

/** One call of a model, and the shape that every wrapper takes and gives back: wrappers nest in any order. */
export type ModelCall<Request, Reply> = (request: Request, call: CallContext) => Promise<Reply>;

export type TokenUsage = ChatReply['usage'];

/** What of a request is asked: all but what a provider wants handed back with it, which differs from call to call. */
export function askedOf(request: ChatRequest): ChatRequest {
  const messages = request.messages.map((message) => {
    if (message.role !== 'assistant' || !message.toolRequests) return message;
    const toolRequests = message.toolRequests.map(({ providerMetadata: _, ...rest }) => rest);
    return { ...message, toolRequests };
  });
  return { ...request, messages };
}

/** A number of tokens as a server reports it; nothing where it is no count, which is as good as not reported. */
export function tokenCount(reported: unknown): number | undefined {
  return Number.isSafeInteger(reported) && (reported as number) >= 0 ? (reported as number) : undefined;
}

/** What one embedding request brings back: one vector a text, in order. */
export interface EmbeddingReply {
  vectors: Float32Array[];
  usage: TokenUsage;
}
