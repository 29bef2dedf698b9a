import { type Connection, type Provider, withVersionPath } from './provider.ts';
import { sdkChat } from './sdk-chat.ts';
import { sdkEmbedding } from './sdk-embedding.ts';

async function client({ baseUrl, apiKey, headers, fetch }: Connection) {
  const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
  return createGoogleGenerativeAI({
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    apiKey: apiKey ?? '',
    headers: { ...headers },
    fetch,
  });
}

export const google: Provider = {
  name: 'google',
  summary: 'Google Gemini',
  needs: 'GOOGLE_GENERATIVE_AI_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY',
  keyEnv: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  keyRequired: true,
  baseUrl: {
    env: ['GOOGLE_GEMINI_BASE_URL'],
    default: 'https://generativelanguage.googleapis.com/v1beta',
    normalize: (url) => withVersionPath(url, 'v1beta'),
  },
  chat: async (connection) => sdkChat((await client(connection)).chat(connection.model), connection),
  embedding: async (connection) => sdkEmbedding((await client(connection)).embedding(connection.model), connection),
};
