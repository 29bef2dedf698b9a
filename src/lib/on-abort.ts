import type { Clock } from '../contracts/call.ts';

interface Hub {
  callbacks: Set<() => void>;
  /** The signal's only listener of ours. */
  listener(): void;
}

/** By signal. A hub lives as long as somebody waits. */
const hubs = new WeakMap<AbortSignal, Hub>();

function openHub(signal: AbortSignal): Hub {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const callback of [...callbacks]) callback();
  };
  signal.addEventListener('abort', listener, { once: true });
  const hub = { callbacks, listener };
  hubs.set(signal, hub);
  return hub;
}

/**
 * Calls back once when the signal aborts; gives back what takes the callback off again. However many wait on a run's one
 * signal, the signal itself has one listener, and none when nobody waits: thousands would cost a warning from Node, and
 * time to remove.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const hub = hubs.get(signal) ?? openHub(signal);
  // A callback that is given twice is called twice.
  const own = () => callback();
  hub.callbacks.add(own);
  return () => {
    if (!hub.callbacks.delete(own) || hub.callbacks.size > 0) return;
    signal.removeEventListener('abort', hub.listener);
    hubs.delete(signal);
  };
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
