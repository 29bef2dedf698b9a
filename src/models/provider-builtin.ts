import type { ChatModel, ChatReply, ChatRequest } from '../contracts/model.ts';
import type { Connection, Provider } from './provider.ts';

/** Models that need no network: each is a function of the request. */
const answers: Readonly<Record<string, (request: ChatRequest) => string>> = {
  echo: (request) => request.messages.findLast(({ role }) => role === 'user')?.content ?? '',
  empty: () => '',
};

export const builtinModels: readonly string[] = Object.keys(answers);

function reply(text: string): ChatReply {
  return { text, toolRequests: [], finishReason: 'stop', usage: {}, warnings: [] };
}

export const builtin: Provider = {
  name: 'builtin',
  summary: `Models without a network, for trying things out: ${builtinModels.join(', ')}`,
  needs: 'nothing',
  keyEnv: [],
  keyRequired: false,
  free: true,
  chat: async ({ modelId, model }: Connection): Promise<ChatModel> => ({
    id: modelId,
    structuredOutput: false,
    generate: async (request, call) => {
      call.signal.throwIfAborted();
      return reply(answers[model]?.(request) ?? '');
    },
  }),
};
