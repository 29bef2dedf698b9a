import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { TokenUsage } from './model-call.ts';
import { parseModelId } from './providers.ts';

/** Cost of one call in US dollars; `undefined` where it cannot be told. */
export type Price = (usage: TokenUsage) => number | undefined;

/**
 * The price of a model by the table that ships with `@pydantic/genai-prices`; nothing is fetched. `undefined` where the
 * table does not know the model. A server that only speaks OpenAI's API has a price where its address is a known one;
 * a built-in model costs nothing.
 */
export function findPrice(modelId: string, baseUrl?: string): Price | undefined {
  const { provider, model } = parseModelId(modelId);
  if (provider.free) return () => 0;
  const known = provider.baseUrl?.default !== undefined;
  const providerId = known ? provider.name : findProvider({ providerApiUrl: baseUrl ?? '' })?.id;
  if (providerId === undefined) return undefined;
  const price: Price = ({ inputTokens, outputTokens, cachedInputTokens = 0 }) => {
    if (inputTokens === undefined || outputTokens === undefined) return undefined;
    const cached = Math.min(cachedInputTokens, inputTokens);
    const tokens = { input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cached };
    return calcPrice(tokens, model, { providerId })?.total_price;
  };
  return price({ inputTokens: 1, outputTokens: 1 }) === undefined ? undefined : price;
}

/** What so many tokens of a model cost, in US dollars; `undefined` where its price is not known. */
export function priceOf(
  modelId: string,
  inputTokens: number,
  outputTokens: number,
  baseUrl?: string,
): number | undefined {
  return findPrice(modelId, baseUrl)?.({ inputTokens, outputTokens });
}
