import type { ModelCall, TokenUsage } from './model-call.ts';
import type { Price } from './prices.ts';

/**
 * Meters every answered attempt: one call, its tokens, its cost. Where there is no price, or the server reports no
 * tokens to apply it to, the call counts as unpriced and adds nothing to the cost.
 */
export function withUsage<I, O extends { usage: TokenUsage }>(
  inner: ModelCall<I, O>,
  { price }: { price: Price | undefined },
): ModelCall<I, O> {
  return async (request, call) => {
    const reply = await inner(request, call);
    const { inputTokens = 0, outputTokens = 0 } = reply.usage;
    const cost = price?.(reply.usage);
    call.meter.add(call.stage, {
      calls: 1,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      ...(cost === undefined ? { unpriced_calls: 1 } : { cost_usd: cost }),
    });
    return reply;
  };
}
