import type { Clock } from '../contracts/call.ts';
import { ModelError } from '../contracts/model.ts';
import type { ModelCall } from './model-call.ts';
import { onAbort } from './on-abort.ts';

/** Made once: an abort without a reason builds an error with a stack for every call. */
const DONE = new Error('the attempt is over');

/**
 * Ends an attempt that takes longer than `timeoutMs`, down to its socket. Each attempt has a signal of its own, which hears
 * of the run's abort and forgets it with the attempt: `AbortSignal.any` would leave something behind for every call of a
 * long run.
 */
export function withDeadline<I, O>(
  inner: ModelCall<I, O>,
  { clock, timeoutMs, modelId }: { clock: Clock; timeoutMs: number; modelId: string },
): ModelCall<I, O> {
  return async (request, call) => {
    call.signal.throwIfAborted();
    const attempt = new AbortController();
    const finished = new AbortController();
    const pass = () => attempt.abort(call.signal.reason);
    const expire = () =>
      attempt.abort(new ModelError('timeout', `${modelId}: no answer within ${timeoutMs / 1000} s`, { modelId }));
    const off = onAbort(call.signal, pass);
    clock.sleep(timeoutMs, finished.signal).then(expire, () => {});
    try {
      return await inner(request, { ...call, signal: attempt.signal });
    } finally {
      finished.abort(DONE);
      off();
    }
  };
}
