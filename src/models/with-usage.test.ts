import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import type { TokenUsage } from './model-call.ts';
import { findPrice, priceOf } from './prices.ts';
import { withUsage } from './with-usage.ts';

async function metered(modelId: string, usage: TokenUsage, baseUrl?: string) {
  const call = fakeCall();
  await withUsage(async () => ({ usage }), { price: findPrice(modelId, baseUrl) })('x', call);
  return call.spent.agent;
}

describe('withUsage', () => {
  it('meters the call, its tokens and its cost', async () => {
    // gpt-4o-mini: $0.15 for a million input tokens, $0.60 for a million output tokens.
    const spent = await metered('openai:gpt-4o-mini', { inputTokens: 1000, outputTokens: 100 });
    expect(spent).toMatchObject({ calls: 1, input_tokens: 1000, output_tokens: 100, unpriced_calls: 0 });
    expect(spent.cost_usd).toBeCloseTo(0.00015 + 0.00006, 12);
  });

  it('counts cached input at its own price', async () => {
    const spent = await metered('openai:gpt-4o-mini', { inputTokens: 1000, outputTokens: 0, cachedInputTokens: 400 });
    expect(spent.cost_usd).toBeCloseTo((600 * 0.15 + 400 * 0.075) / 1e6, 12);
  });

  it('counts a call as unpriced where there is no price or no token count', async () => {
    const known = { inputTokens: 10, outputTokens: 2 };
    for (const spent of [
      await metered('openai:no-such-model', known),
      await metered('openai-compatible:gpt-4o-mini', known, 'http://localhost:1/v1'),
      await metered('openai:gpt-4o-mini', {}),
      await metered('openai:gpt-4o-mini', { inputTokens: 10 }),
    ]) {
      expect(spent).toMatchObject({ calls: 1, cost_usd: 0, unpriced_calls: 1 });
    }
  });

  it('prices a built-in model at nothing, tokens or not', async () => {
    expect(await metered('builtin:echo', {})).toMatchObject({ calls: 1, cost_usd: 0, unpriced_calls: 0 });
  });

  it('adds nothing for a call that fails', async () => {
    const call = fakeCall();
    const failing = withUsage(async () => Promise.reject(new Error('down')), { price: undefined });
    await expect(failing('x', call)).rejects.toThrow('down');
    expect(call.spent.agent.calls).toBe(0);
  });
});

describe('priceOf', () => {
  it.each([
    ['openai:gpt-4o-mini', undefined, 0.15],
    ['anthropic:claude-sonnet-4-5', undefined, 3],
    ['google:gemini-2.5-flash', undefined, 0.3],
    ['builtin:echo', undefined, 0],
    ['openai-compatible:gpt-4o-mini', 'http://localhost:8000/v1', undefined],
  ])('%s at %s costs %s for 100,000 tokens ten times over', (id, baseUrl, perMillion) => {
    const cost = priceOf(id, 100_000, 0, baseUrl);
    if (perMillion === undefined) expect(cost).toBeUndefined();
    else expect(cost).toBeCloseTo(perMillion / 10, 9);
  });

  it('prices a hosted compatible server by its address', () => {
    expect(priceOf('openai-compatible:deepseek-chat', 1_000_000, 0, 'https://api.deepseek.com/v1')).toBeGreaterThan(0);
  });
});
