import type { Clock } from '../contracts/call.ts';
import { ModelError } from '../contracts/model.ts';
import { type LinkedAbort, linkedAbort } from '../lib/linked-abort.ts';
import type { ModelCall } from './model-call.ts';

export interface DeadlineOptions {
  clock: Clock;
  timeoutMs: number;
  modelId: string;
}

interface Attempt {
  /** On the clock's monotonic time, in milliseconds. */
  due: number;
  own: LinkedAbort;
}

/**
 * Ends an attempt that takes longer than `timeoutMs`, down to its socket. Each attempt has a signal of its own, which hears
 * of the run's abort and forgets it with the attempt: `AbortSignal.any` would leave something behind for every call of a
 * long run.
 */
export function withDeadline<I, O>(inner: ModelCall<I, O>, options: DeadlineOptions): ModelCall<I, O> {
  const watch = createWatch(options);
  return async (request, call) => {
    call.signal.throwIfAborted();
    const own = linkedAbort(call.signal);
    const attempt = watch.add(own);
    try {
      return await inner(request, { ...call, signal: own.signal });
    } finally {
      watch.remove(attempt);
      own.release();
    }
  };
}

/** Made once: an abort without a reason builds an error with a stack. */
const DONE = new Error('nobody is under way');

/**
 * All attempts take the same time at most, so they fall due in the order in which they began: one sleep for the oldest
 * serves thousands in flight. Nobody under way, no sleep: it must not keep the process alive.
 */
function createWatch({ clock, timeoutMs, modelId }: DeadlineOptions) {
  const attempts = new Set<Attempt>();
  let sleep: AbortController | undefined;

  /** The sleep itself is the measure: a timer may wake a moment before the clock says so. */
  const expire = (now: number) => {
    sleep = undefined;
    for (const attempt of attempts) {
      if (attempt.due > now) break;
      attempts.delete(attempt);
      const message = `${modelId}: no answer within ${timeoutMs / 1000} s`;
      attempt.own.abort(new ModelError('timeout', message, { modelId }));
    }
    sleepUntilNext();
  };

  const sleepUntilNext = () => {
    const [oldest] = attempts;
    if (sleep !== undefined || oldest === undefined) return;
    sleep = new AbortController();
    clock.sleep(oldest.due - clock.monotonic(), sleep.signal).then(
      () => expire(oldest.due),
      () => {},
    );
  };

  return {
    add(own: LinkedAbort): Attempt {
      const attempt = { due: clock.monotonic() + timeoutMs, own };
      attempts.add(attempt);
      sleepUntilNext();
      return attempt;
    },
    remove(attempt: Attempt): void {
      attempts.delete(attempt);
      if (attempts.size > 0) return;
      sleep?.abort(DONE);
      sleep = undefined;
    },
  };
}
