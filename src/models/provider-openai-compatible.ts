import type { Connection, Provider } from './provider.ts';
import { sdkChat } from './sdk-chat.ts';
import { sdkEmbedding } from './sdk-embedding.ts';

async function client({ baseUrl, apiKey, headers, fetch }: Connection) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl ?? '',
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: { ...headers },
    // Whether a schema is sent at all is decided a layer above.
    supportsStructuredOutputs: true,
    fetch,
  });
}

/**
 * Any server that speaks OpenAI's chat completions. `base_url` names it, and a key is sent only where `api_key_env`
 * names one: a key meant for OpenAI must not reach another host by accident.
 */
export const openaiCompatible: Provider = {
  name: 'openai-compatible',
  summary: 'Any server with OpenAI chat completions: Ollama, vLLM, LM Studio, llama.cpp, hosted ones',
  needs: 'base_url; a key only where the server wants one (api_key_env)',
  keyEnv: [],
  keyRequired: false,
  baseUrl: { env: [] },
  chat: async (connection) => sdkChat((await client(connection)).chatModel(connection.model), connection),
  embedding: async (connection) =>
    sdkEmbedding((await client(connection)).embeddingModel(connection.model), connection),
};
