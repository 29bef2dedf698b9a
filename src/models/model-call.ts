import type { CallContext } from '../contracts/call.ts';
import type { ChatReply } from '../contracts/model.ts';

/** One call of a model, and the shape that every wrapper takes and gives back: wrappers nest in any order. */
export type ModelCall<Request, Reply> = (request: Request, call: CallContext) => Promise<Reply>;

export type TokenUsage = ChatReply['usage'];

/** What one embedding request brings back: one vector a text, in order. */
export interface EmbeddingReply {
  vectors: Float32Array[];
  usage: TokenUsage;
}
