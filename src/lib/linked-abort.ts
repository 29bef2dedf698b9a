import { setMaxListeners } from 'node:events';

/**
 * A controller that aborts with its parent. `release` lets go of the parent: a run's signal outlives thousands of
 * calls, and a listener left on it for each would be a leak (as `AbortSignal.any` leaves on Node 20).
 */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  release(): void;
}

export function linkedAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  // As many listen as there are calls in flight; Node would take more than ten for a leak.
  setMaxListeners(0, controller.signal);
  const follow = () => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent.removeEventListener('abort', follow),
  };
}
