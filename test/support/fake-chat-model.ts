import type { CallContext } from '../../src/contracts/call.ts';
import type { ChatModel, ChatReply, ChatRequest } from '../../src/contracts/model.ts';

export interface FakeChatModel extends ChatModel {
  /** Every request so far. */
  readonly requests: ChatRequest[];
}

/** A whole reply from the parts that matter to a test. */
export function chatReply(text: string, rest: Partial<ChatReply> = {}): ChatReply {
  return { text, toolRequests: [], finishReason: 'stop', usage: {}, warnings: [], ...rest };
}

/** A chat model whose replies a test writes; a string stands for a reply with that text. */
export function fakeChatModel(
  answer: (request: ChatRequest, call: CallContext) => string | ChatReply | Promise<string | ChatReply>,
  options: { structuredOutput?: boolean } = {},
): FakeChatModel {
  const requests: ChatRequest[] = [];
  return {
    id: 'fake:judge',
    structuredOutput: options.structuredOutput ?? true,
    requests,
    generate: async (request, call) => {
      requests.push(request);
      const reply = await answer(request, call);
      return typeof reply === 'string' ? chatReply(reply) : reply;
    },
  };
}
