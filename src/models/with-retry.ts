import type { Clock } from '../contracts/call.ts';
import { ModelError } from '../contracts/model.ts';
import { sleepOn } from '../lib/on-abort.ts';
import type { Random } from '../lib/random.ts';
import type { ModelCall } from './model-call.ts';

export interface RetryOptions {
  clock: Clock;
  random: Random;
  /** Attempts that may fail, the first included. A 429 is not among them: it says "later", not "no". Default 6. */
  maxAttempts?: number;
  /** The most that one call spends waiting between attempts, in milliseconds. Default five minutes. */
  maxWaitMs?: number;
}

const BASE_MS = 500;
const CAP_MS = 30_000;

/**
 * Tries again what may pass by itself, after an exponential backoff with full jitter (Brooker, "Exponential Backoff And
 * Jitter", AWS 2015) and never before a Retry-After is over. A bad key, a spent quota, an unknown model and a bad
 * request fail at once.
 */
export function withRetry<I, O>(inner: ModelCall<I, O>, options: RetryOptions): ModelCall<I, O> {
  const { clock, random, maxAttempts = 6, maxWaitMs = 300_000 } = options;
  return async (request, call) => {
    let failures = 0;
    let waitedMs = 0;
    for (let attempts = 1; ; attempts++) {
      try {
        return await inner(request, call);
      } catch (error) {
        call.signal.throwIfAborted();
        if (!(error instanceof ModelError) || !error.retryable) throw error;
        if (error.kind !== 'rate_limit') failures++;
        const waitMs = (error.retryAfterMs ?? 0) + backoffMs(attempts, error, random);
        if (failures >= maxAttempts || waitedMs + waitMs > maxWaitMs) throw givenUp(error, attempts, waitedMs);
        call.meter.add(call.stage, { retries: 1 });
        await sleepOn(clock, waitMs, call.signal);
        waitedMs += waitMs;
      }
    }
  };
}

/** Who was told how long to wait needs only enough jitter to not come back together with the others. */
function backoffMs(attempts: number, error: ModelError, random: Random): number {
  if (error.retryAfterMs !== undefined) return random() * BASE_MS;
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** (attempts - 1));
}

function givenUp(error: ModelError, attempts: number, waitedMs: number): ModelError {
  const asked =
    error.retryAfterMs === undefined ? '' : `; the server asks to wait ${Math.ceil(error.retryAfterMs / 1000)} s more`;
  const story = `given up after ${attempts} attempt${attempts === 1 ? '' : 's'} and ${Math.round(waitedMs / 1000)} s of waiting${asked}`;
  return new ModelError(error.kind, `${error.message} (${story})`, {
    modelId: error.modelId,
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  });
}
