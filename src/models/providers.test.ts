import { describe, expect, it } from 'vitest';
import { HeamsError, HeamsErrors } from '../lib/errors.ts';
import { checkModel, parseModelId, providers, resolveModel } from './providers.ts';

function thrown(run: () => unknown): HeamsError {
  try {
    run();
  } catch (error) {
    if (error instanceof HeamsError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const OPENAI = { OPENAI_API_KEY: 'sk-canary-1234567890' };

describe('parseModelId', () => {
  it.each([
    ['openai:gpt-4o-mini', 'openai', 'gpt-4o-mini'],
    ['openai:ft:gpt-4o-mini:acme::abc', 'openai', 'ft:gpt-4o-mini:acme::abc'],
    ['openai-compatible:qwen2.5:7b-instruct', 'openai-compatible', 'qwen2.5:7b-instruct'],
    ['openai-compatible:meta-llama/Llama-3.1-8B', 'openai-compatible', 'meta-llama/Llama-3.1-8B'],
    ['builtin:echo', 'builtin', 'echo'],
  ])('%s', (id, provider, model) => {
    const parsed = parseModelId(id);
    expect([parsed.provider.name, parsed.model]).toEqual([provider, model]);
  });

  it.each([
    ['gpt-4o-mini', 'bad_model_id', 'openai:gpt-4o-mini'],
    ['claude-sonnet-4-5', 'bad_model_id', 'anthropic:claude-sonnet-4-5'],
    ['openai/gpt-4o-mini', 'bad_model_id', 'openai:gpt-4o-mini'],
    ['openai:', 'bad_model_id', 'openai:gpt-4o-mini'],
    ['opnai:gpt-4o-mini', 'unknown_provider', 'did you mean openai:gpt-4o-mini?'],
    ['gemini:gemini-2.5-flash', 'unknown_provider', 'did you mean google:gemini-2.5-flash?'],
    ['azure:gpt-4o', 'unknown_provider', 'azure is not built in: write openai-compatible:gpt-4o'],
    ['mistral:small', 'unknown_provider', 'base_url: https://api.mistral.ai/v1'],
    ['bedrock:claude', 'unknown_provider', 'openai-compatible:claude'],
    [
      'ollama:llama3.2:3b',
      'unknown_provider',
      'openai-compatible:llama3.2:3b with base_url: http://localhost:11434/v1',
    ],
    ['zzzzzzzzzz:x', 'unknown_provider', 'openai-compatible:<model>'],
  ])('%s is %s with a way on', (id, code, hint) => {
    const error = thrown(() => parseModelId(id));
    expect(error.code).toBe(code);
    expect(error.hint).toContain(hint);
  });

  it('names the built-in models when one is misspelled', () => {
    expect(thrown(() => parseModelId('builtin:ecko')).expected).toBe('builtin:echo, builtin:empty');
  });
});

describe('checkModel', () => {
  const codes = (...args: Parameters<typeof checkModel>) => checkModel(...args).map(({ code }) => code);

  it('finds nothing wrong where a call could be made', () => {
    expect(checkModel({ model_id: 'openai:gpt-4o-mini' }, OPENAI)).toEqual([]);
    expect(checkModel({ model_id: 'builtin:echo' }, {})).toEqual([]);
    expect(checkModel({ model_id: 'openai-compatible:x', base_url: 'http://localhost:1/v1' }, {})).toEqual([]);
    expect(checkModel({ model_id: 'google:gemini-2.5-flash' }, { GEMINI_API_KEY: 'abcdef' })).toEqual([]);
    expect(checkModel({ model_id: 'google:gemini-2.5-flash' }, { GOOGLE_API_KEY: 'abcdef' })).toEqual([]);
  });

  it.each([
    ['openai:gpt-4o-mini', 'OPENAI_API_KEY'],
    ['anthropic:claude-haiku-4-5', 'ANTHROPIC_API_KEY'],
    ['google:gemini-2.5-flash', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ])('%s without a key names %s and api_key_env', (model_id, variable) => {
    const [error, ...others] = checkModel({ model_id }, { [variable]: ' ' });
    expect(others).toEqual([]);
    expect(error).toMatchObject({ code: 'missing_api_key', expected: variable, where: undefined });
    expect(error?.hint).toContain('api_key_env');
  });

  it('takes the variable that api_key_env names instead of the usual one, and asks for it alone', () => {
    const settings = { model_id: 'openai:gpt-4o-mini', api_key_env: 'TEAM_KEY' };
    expect(checkModel(settings, OPENAI)).toMatchObject([{ code: 'missing_api_key', expected: 'TEAM_KEY' }]);
    expect(resolveModel(settings, { ...OPENAI, TEAM_KEY: 'team' }).apiKey).toBe('team');
  });

  it('never sends a key meant for OpenAI to a compatible server', () => {
    const settings = { model_id: 'openai-compatible:x', base_url: 'http://localhost:1/v1' };
    expect(resolveModel(settings, OPENAI).apiKey).toBeUndefined();
    expect(codes({ ...settings, api_key_env: 'HOST_KEY' }, {})).toEqual(['missing_api_key']);
  });

  it('says everything that is wrong at once, and no key', () => {
    const settings = {
      model_id: 'openai:gpt-4o-mini',
      base_url: 'http://user:canary-password@host/v1',
      headers: { 'x-ok': 'fine', 'x bad': 'v', 'x-worse': 'line\nbreak' },
      timeout_s: 900,
    };
    const env = { OPENAI_API_KEY: 'canary key' };
    expect(codes(settings, env)).toEqual(['bad_api_key', 'bad_base_url', 'bad_header', 'bad_header', 'bad_timeout']);
    const all = thrown(() => resolveModel(settings, env));
    expect(all).toBeInstanceOf(HeamsErrors);
    expect(all.describe()).not.toContain('canary');
  });

  it.each([
    ['openai-compatible:x', undefined, 'missing_base_url'],
    ['openai-compatible:x', 'localhost:11434/v1', 'bad_base_url'],
    ['openai-compatible:x', 'http://host/v1?key=1', 'bad_base_url'],
    ['openai-compatible:x', 'not a url', 'bad_base_url'],
  ])('%s with base_url %s: %s', (model_id, base_url, code) => {
    expect(codes({ model_id, ...(base_url ? { base_url } : {}) }, {})).toEqual([code]);
  });

  it('names the variable where the address came from one', () => {
    const [error] = checkModel({ model_id: 'openai:x' }, { ...OPENAI, OPENAI_BASE_URL: 'nowhere' });
    expect(error?.message).toBe('OPENAI_BASE_URL of openai:x is not a URL');
  });

  it('knows which providers have no embeddings', () => {
    expect(codes({ model_id: 'anthropic:x' }, { ANTHROPIC_API_KEY: 'abc' }, 'embedding')).toEqual([
      'unsupported_model',
    ]);
    expect(codes({ model_id: 'builtin:echo' }, {}, 'embedding')).toEqual(['unsupported_model']);
  });
});

describe('resolveModel', () => {
  it.each([
    ['openai:x', {}, 'https://api.openai.com/v1'],
    ['openai:x', { OPENAI_BASE_URL: 'http://proxy/openai/v1/' }, 'http://proxy/openai/v1'],
    ['anthropic:x', {}, 'https://api.anthropic.com/v1'],
    ['anthropic:x', { ANTHROPIC_BASE_URL: 'https://api.anthropic.com' }, 'https://api.anthropic.com/v1'],
    ['anthropic:x', { ANTHROPIC_BASE_URL: 'http://proxy/anthropic/v1' }, 'http://proxy/anthropic/v1'],
    ['google:x', {}, 'https://generativelanguage.googleapis.com/v1beta'],
    ['google:x', { GOOGLE_GEMINI_BASE_URL: 'http://proxy' }, 'http://proxy/v1beta'],
  ])('%s with %j is at %s', (model_id, env, expected) => {
    const keys = { OPENAI_API_KEY: 'abc', ANTHROPIC_API_KEY: 'abc', GEMINI_API_KEY: 'abc' };
    expect(resolveModel({ model_id }, { ...keys, ...env }).baseUrl).toBe(expected);
  });

  it('lets base_url win over the environment, and trims a line break off a key', () => {
    const env = { OPENAI_API_KEY: 'abc\n', OPENAI_BASE_URL: 'http://elsewhere/v1' };
    const found = resolveModel({ model_id: 'openai:x', base_url: 'http://here/v1' }, env);
    expect(found).toMatchObject({ baseUrl: 'http://here/v1', apiKey: 'abc' });
  });
});

describe('providers', () => {
  it('says of each what it is and what it needs', () => {
    expect([...providers.keys()]).toEqual(['openai', 'anthropic', 'google', 'openai-compatible', 'builtin']);
    for (const { summary, needs } of providers.values()) {
      expect(summary).not.toBe('');
      expect(needs).not.toBe('');
    }
  });
});
