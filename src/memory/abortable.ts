import { setMaxListeners } from 'node:events';

/** What `promise` gives, or the signal's reason as soon as it aborts. What the promise does afterwards is ignored. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // A run's one signal has a listener for every sample that waits; Node would take more than ten for a leak.
  setMaxListeners(0, signal);
  let giveUp = () => {};
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
