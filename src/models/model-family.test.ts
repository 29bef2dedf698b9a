import { describe, expect, it } from 'vitest';
import { familiesOf, familyPairs, sharedFamily } from './model-family.ts';

describe('familiesOf', () => {
  it.each([
    ['openai:gpt-4o-mini', ['OpenAI GPT']],
    ['gpt-4o-mini-2024-07-18', ['OpenAI GPT']],
    ['openai:o3-mini', ['OpenAI GPT']],
    ['openai-compatible:openai/gpt-oss-120b', ['OpenAI GPT']],
    ['openai:ft:gpt-4o:acme::abc', ['OpenAI GPT']],
    ['anthropic:claude-sonnet-4-5', ['Anthropic Claude']],
    ['openai-compatible:us.anthropic.claude-3-haiku', ['Anthropic Claude']],
    ['google:gemini-2.5-flash', ['Google Gemini and Gemma']],
    ['openai-compatible:gemma3:27b', ['Google Gemini and Gemma']],
    ['openai-compatible:meta-llama/Llama-3.1-8B-Instruct', ['Meta Llama']],
    ['openai-compatible:llama3.2', ['Meta Llama']],
    ['openai-compatible:codellama:7b', ['Meta Llama']],
    ['openai-compatible:mixtral-8x7b', ['Mistral']],
    ['openai-compatible:qwen2.5:14b', ['Qwen']],
    ['openai-compatible:deepseek-r1-distill-llama-8b', ['Meta Llama', 'DeepSeek']],
    ['openai-compatible:phi4', ['Microsoft Phi']],
    ['openai-compatible:command-r-plus', ['Cohere Command and Aya']],
    ['openai-compatible:judge', []],
    ['openai-compatible:commander', []],
    ['openai-compatible:photo1', []],
    ['builtin:echo', []],
  ])('of %s', (model, expected) => {
    expect(familiesOf(model)).toEqual(expected);
  });
});

describe('sharedFamily', () => {
  it('knows one maker under different names, and the same unknown model', () => {
    expect(sharedFamily('openai:gpt-4o', 'gpt-4o-mini-2024-07-18')).toBe('OpenAI GPT');
    expect(sharedFamily('openai-compatible:Atlas', 'openai-compatible:atlas')).toBe('"Atlas"');
  });

  it('says nothing about different families, or names that do not tell', () => {
    expect(sharedFamily('openai:gpt-4o', 'anthropic:claude-haiku-4-5')).toBeUndefined();
    expect(sharedFamily('openai-compatible:agent', 'openai-compatible:judge')).toBeUndefined();
    // The provider's name is how a model is reached, not what it is.
    expect(sharedFamily('openai-compatible:llama3', 'openai:gpt-4o')).toBeUndefined();
  });
});

describe('familyPairs', () => {
  it('names each pair once', () => {
    const agents = ['openai:gpt-4o', 'openai:gpt-4o', 'google:gemini-2.5-pro'];
    expect(familyPairs(agents, ['openai:gpt-4o-mini', 'anthropic:claude-haiku-4-5'])).toEqual([
      { agent: 'openai:gpt-4o', judge: 'openai:gpt-4o-mini', family: 'OpenAI GPT' },
    ]);
    expect(familyPairs([], ['openai:gpt-4o-mini'])).toEqual([]);
  });
});
