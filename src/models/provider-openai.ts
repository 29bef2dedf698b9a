import type { Connection, Provider } from './provider.ts';
import { sdkChat } from './sdk-chat.ts';
import { sdkEmbedding } from './sdk-embedding.ts';

async function client({ baseUrl, apiKey, headers, env, fetch }: Connection) {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const organization = env.OPENAI_ORG_ID;
  const project = env.OPENAI_PROJECT_ID;
  return createOpenAI({
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    apiKey: apiKey ?? '',
    ...(organization ? { organization } : {}),
    ...(project ? { project } : {}),
    headers: { ...headers },
    fetch,
  });
}

/** Chat completions, not the Responses API: that one has no `seed`. */
export const openai: Provider = {
  name: 'openai',
  summary: 'OpenAI chat completions and embeddings',
  needs: 'OPENAI_API_KEY',
  keyEnv: ['OPENAI_API_KEY'],
  keyRequired: true,
  baseUrl: { env: ['OPENAI_BASE_URL'], default: 'https://api.openai.com/v1' },
  chat: async (connection) => sdkChat((await client(connection)).chat(connection.model), connection),
  embedding: async (connection) => sdkEmbedding((await client(connection)).embedding(connection.model), connection),
};
