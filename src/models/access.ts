import { HeamsError } from '../lib/errors.ts';
import type { ModelSettings } from '../schema/model-settings.ts';
import type { Env, Provider } from './provider.ts';

export interface Access {
  baseUrl: string | undefined;
  apiKey: string | undefined;
}

export interface AccessQuestion {
  settings: ModelSettings;
  env: Env;
  kind: 'chat' | 'embedding';
}

/** The address and the key, for settings that `checkAccess` finds nothing wrong with. */
export function findAccess(provider: Provider, settings: ModelSettings, env: Env): Access {
  const url = findBaseUrl(provider, settings, env)?.url.replace(/\/+$/, '');
  const normalize = provider.baseUrl?.normalize ?? ((plain) => plain);
  return { baseUrl: url === undefined ? undefined : normalize(url), apiKey: findKey(provider, settings, env)?.key };
}

export function checkAccess(provider: Provider, { settings, env, kind }: AccessQuestion): HeamsError[] {
  return [
    ...checkKind(provider, settings, kind),
    ...checkKey(provider, settings, env),
    ...checkBaseUrl(provider, settings, env),
    ...checkHeaders(settings),
    ...checkTimeout(settings),
  ];
}

function checkKind(provider: Provider, settings: ModelSettings, kind: 'chat' | 'embedding'): HeamsError[] {
  if (provider[kind] !== undefined) return [];
  return [
    new HeamsError(`${provider.name} has no ${kind} models`, { code: 'unsupported_model', found: settings.model_id }),
  ];
}

/** The variables that may hold the key. `api_key_env` stands in for the provider's own, it does not add to them. */
function keyVariables(provider: Provider, settings: ModelSettings): readonly string[] {
  return settings.api_key_env === undefined ? provider.keyEnv : [settings.api_key_env];
}

function findKey(provider: Provider, settings: ModelSettings, env: Env): { key: string; variable: string } | undefined {
  for (const variable of keyVariables(provider, settings)) {
    // A line break at the end is a common slip in a .env file, and no key has one.
    const key = env[variable]?.trim();
    if (key) return { key, variable };
  }
  return undefined;
}

function checkKey(provider: Provider, settings: ModelSettings, env: Env): HeamsError[] {
  const found = findKey(provider, settings, env);
  if (found === undefined) {
    const [variable, ...others] = keyVariables(provider, settings);
    if (variable === undefined || (!provider.keyRequired && settings.api_key_env === undefined)) return [];
    const also = others.length === 0 ? '' : ` (or ${others.join(' or ')})`;
    return [
      new HeamsError(`${settings.model_id} needs an API key`, {
        code: 'missing_api_key',
        expected: variable,
        hint:
          settings.api_key_env === undefined
            ? `set ${variable}${also} in the environment or in .env, or name another variable with api_key_env`
            : `set ${variable} in the environment or in .env; api_key_env names it`,
      }),
    ];
  }
  // A header cannot carry anything else, and the platform's own error would repeat the key.
  if (/^[\x21-\x7e]+$/.test(found.key)) return [];
  return [
    new HeamsError(
      `the value of ${found.variable} cannot be an API key: it holds a space or a character that is not ASCII`,
      {
        code: 'bad_api_key',
        hint: `copy the key into ${found.variable} again`,
      },
    ),
  ];
}

function findBaseUrl(provider: Provider, settings: ModelSettings, env: Env): { url: string; from: string } | undefined {
  if (provider.baseUrl === undefined) return undefined;
  if (settings.base_url !== undefined) return { url: settings.base_url, from: 'base_url' };
  for (const variable of provider.baseUrl.env) {
    const url = env[variable]?.trim();
    if (url) return { url, from: variable };
  }
  return provider.baseUrl.default === undefined ? undefined : { url: provider.baseUrl.default, from: provider.name };
}

function checkBaseUrl(provider: Provider, settings: ModelSettings, env: Env): HeamsError[] {
  if (provider.baseUrl === undefined) return [];
  const found = findBaseUrl(provider, settings, env);
  if (found === undefined) {
    return [
      new HeamsError(`${settings.model_id} needs base_url`, {
        code: 'missing_base_url',
        expected: 'the root of a chat-completions API, such as http://localhost:11434/v1',
        hint: 'set base_url beside the model id (Ollama: http://localhost:11434/v1, LM Studio: http://localhost:1234/v1, vLLM: http://localhost:8000/v1)',
      }),
    ];
  }
  const problem = urlProblem(found.url);
  if (problem === undefined) return [];
  return [
    new HeamsError(`${found.from} of ${settings.model_id} ${problem}`, {
      code: 'bad_base_url',
      expected: 'http://host/path or https://host/path',
      hint: 'keys go into an environment variable (api_key_env) or into headers',
    }),
  ];
}

/** The URL itself is left out: it may hold a password. */
function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is neither http nor https';
  if (url.username !== '' || url.password !== '') return 'holds a user name or password';
  if (url.search !== '' || url.hash !== '') return 'holds a query or a fragment';
  return undefined;
}

function checkHeaders(settings: ModelSettings): HeamsError[] {
  return Object.entries(settings.headers ?? {})
    .filter(([name, value]) => !/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value))
    .map(
      ([name]) =>
        new HeamsError(`header "${name}" of ${settings.model_id} has a character that a header cannot carry`, {
          code: 'bad_header',
        }),
    );
}

/** How long Node's fetch waits for the first byte of an answer, in seconds, whatever its caller wants. */
const FETCH_PATIENCE_S = 300;

function checkTimeout({ timeout_s: seconds = 0, model_id: id }: ModelSettings): HeamsError[] {
  if (seconds <= FETCH_PATIENCE_S) return [];
  return [
    new HeamsError(`timeout_s of ${id} is longer than Node waits for an answer`, {
      code: 'bad_timeout',
      expected: `at most ${FETCH_PATIENCE_S} (seconds)`,
      found: String(seconds),
      hint: 'lower max_tokens, or take a faster model or server',
    }),
  ];
}
