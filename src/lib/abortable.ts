import { onAbort } from './on-abort.ts';

/** What `promise` gives, or the signal's reason as soon as it aborts. What the promise does afterwards is ignored. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let release = () => {};
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else release = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    release();
  }
}
