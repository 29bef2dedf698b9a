import { onAbort } from './on-abort.ts';

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
  let release = () => {};
  if (parent.aborted) controller.abort(parent.reason);
  else release = onAbort(parent, () => controller.abort(parent.reason));
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), release };
}
