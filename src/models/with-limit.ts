import { ModelError } from '../contracts/model.ts';
import type { Limiter } from './limiter.ts';
import type { ModelCall } from './model-call.ts';

/** Holds a slot of the account's limiter for the length of one attempt, and tells the limiter how it went. */
export function withLimit<I, O>(inner: ModelCall<I, O>, limiter: Limiter): ModelCall<I, O> {
  return async (request, call) => {
    const slot = await limiter.acquire(call.signal);
    try {
      const reply = await inner(request, call);
      slot.release('answered');
      return reply;
    } catch (error) {
      if (isRefusal(error)) slot.release('refused', error.retryAfterMs);
      else slot.release('failed');
      throw error;
    }
  };
}

/** 503 and 529 say the same as 429: too much at once. */
function isRefusal(error: unknown): error is ModelError {
  return error instanceof ModelError && (error.kind === 'rate_limit' || error.status === 503 || error.status === 529);
}
