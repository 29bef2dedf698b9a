import { HeamsError, throwIfAny } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { ModelSettings } from '../schema/model-settings.ts';
import { type Access, checkAccess, findAccess } from './access.ts';
import type { Env, Provider } from './provider.ts';
import { anthropic } from './provider-anthropic.ts';
import { builtin, builtinModels } from './provider-builtin.ts';
import { google } from './provider-google.ts';
import { openai } from './provider-openai.ts';
import { openaiCompatible } from './provider-openai-compatible.ts';

/** Every provider by name. The vendors' clients load when a model is created, not with this map. */
export const providers: ReadonlyMap<string, Provider> = new Map(
  [openai, anthropic, google, openaiCompatible, builtin].map((provider) => [provider.name, provider]),
);

/** Names that people try, and where their chat-completions API is. */
const compatibleHosts: Readonly<Record<string, string>> = {
  ollama: 'http://localhost:11434/v1',
  lmstudio: 'http://localhost:1234/v1',
  vllm: 'http://localhost:8000/v1',
  azure: 'https://<resource>.openai.azure.com/openai/v1',
  bedrock: 'https://bedrock-runtime.<region>.amazonaws.com/openai/v1',
  'amazon-bedrock': 'https://bedrock-runtime.<region>.amazonaws.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  groq: 'https://api.groq.com/openai/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  deepseek: 'https://api.deepseek.com/v1',
  together: 'https://api.together.xyz/v1',
  xai: 'https://api.x.ai/v1',
};
const otherNames: Readonly<Record<string, string>> = { gemini: 'google', claude: 'anthropic', gpt: 'openai' };

export interface ModelId {
  provider: Provider;
  /** The model as the provider names it; may hold `:` and `/`. */
  model: string;
}

/** Splits `provider:model`. Throws a `HeamsError` that names what was meant, where that can be told. */
export function parseModelId(id: string): ModelId {
  const colon = id.indexOf(':');
  const name = colon === -1 ? '' : id.slice(0, colon);
  const model = id.slice(colon + 1);
  if (colon === -1 || model === '') {
    throw new HeamsError(`model id "${id}" does not name ${colon === -1 ? 'its provider' : 'a model'}`, {
      code: 'bad_model_id',
      expected: 'provider:model',
      found: id,
      hint: `write for example ${colon === -1 ? guessId(id) : `${id}gpt-4o-mini`}`,
    });
  }
  const provider = providers.get(name);
  if (provider === undefined) throw unknownProvider(name, model);
  if (provider === builtin && !builtinModels.includes(model)) {
    throw new HeamsError(`there is no built-in model "${model}"`, {
      code: 'unknown_model',
      expected: builtinModels.map((known) => `builtin:${known}`).join(', '),
      found: id,
    });
  }
  return { provider, model };
}

function unknownProvider(name: string, model: string): HeamsError {
  const host = compatibleHosts[name.toLowerCase()];
  const meant = otherNames[name.toLowerCase()] ?? nearest(name, providers.keys());
  const hint =
    host !== undefined
      ? `${name} is not built in: write openai-compatible:${model} with base_url: ${host} and api_key_env`
      : meant === undefined
        ? 'a server with OpenAI chat completions is reached as openai-compatible:<model> with base_url'
        : `did you mean ${meant}:${model}?`;
  return new HeamsError(`unknown model provider "${name}"`, {
    code: 'unknown_provider',
    expected: [...providers.keys()].join(', '),
    found: name,
    hint,
  });
}

function guessId(id: string): string {
  const [first = '', ...rest] = id.split('/');
  if (providers.has(first) && rest.length > 0) return `${first}:${rest.join('/')}`;
  if (id.startsWith('claude')) return `anthropic:${id}`;
  if (id.startsWith('gemini')) return `google:${id}`;
  if (/^(gpt|o\d)/.test(id)) return `openai:${id}`;
  return 'openai:gpt-4o-mini';
}

/**
 * What is wrong with a model's settings, told without a network: all of it at once, empty where a call could be made.
 * A missing key has the code `missing_api_key` and the variable's name as `expected`.
 */
export function checkModel(settings: ModelSettings, env: Env, kind: 'chat' | 'embedding' = 'chat'): HeamsError[] {
  try {
    const { provider } = parseModelId(settings.model_id);
    return checkAccess(provider, { settings, env, kind });
  } catch (error) {
    if (error instanceof HeamsError) return [error];
    throw error;
  }
}

/** Where a model's API is and what opens it. Throws all that `checkModel` finds. */
export function resolveModel(settings: ModelSettings, env: Env, kind: 'chat' | 'embedding' = 'chat'): ModelId & Access {
  throwIfAny(checkModel(settings, env, kind));
  const { provider, model } = parseModelId(settings.model_id);
  return { provider, model, ...findAccess(provider, settings, env) };
}
