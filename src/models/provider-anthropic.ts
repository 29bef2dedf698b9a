import { type Provider, withVersionPath } from './provider.ts';
import { sdkChat } from './sdk-chat.ts';

/** Claude models. Older ones take a JSON schema as a forced tool, newer ones as an output format; both give JSON text. */
export const anthropic: Provider = {
  name: 'anthropic',
  summary: 'Anthropic messages',
  needs: 'ANTHROPIC_API_KEY',
  keyEnv: ['ANTHROPIC_API_KEY'],
  keyRequired: true,
  baseUrl: {
    env: ['ANTHROPIC_BASE_URL'],
    default: 'https://api.anthropic.com/v1',
    normalize: (url) => withVersionPath(url, 'v1'),
  },
  chat: async (connection) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const { baseUrl, apiKey, headers, fetch } = connection;
    const client = createAnthropic({
      ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
      apiKey: apiKey ?? '',
      headers: { ...headers },
      fetch,
    });
    return sdkChat(client.messages(connection.model), connection);
  },
};
