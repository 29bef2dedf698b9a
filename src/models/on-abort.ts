import type { Clock } from '../contracts/call.ts';

/** Callbacks by signal. An entry lives as long as its signal does. */
const hubs = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal aborts; gives back what takes the callback off again. However many wait on a run's one
 * signal, the signal itself has one listener: thousands would cost a warning from Node, and time to remove.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let hub = hubs.get(signal);
  if (hub === undefined) {
    const fresh = new Set<() => void>();
    signal.addEventListener('abort', () => [...fresh].forEach((one) => void one()), { once: true });
    hubs.set(signal, fresh);
    hub = fresh;
  }
  const mine = hub;
  mine.add(callback);
  return () => mine.delete(callback);
}

/** Sleeps on a shared signal without a listener of its own on it. */
export async function sleepOn(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const own = new AbortController();
  const off = onAbort(signal, () => own.abort(signal.reason));
  try {
    await clock.sleep(ms, own.signal);
  } finally {
    off();
  }
}
