/**
 * Runs all tasks at once and gives their results in order. When one throws, the signal that the others hold aborts,
 * and once all have ended the first error is thrown: nothing that was started outlives the call. Nothing stays attached
 * to `outer` either.
 */
export async function together<T>(
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
  outer: AbortSignal,
): Promise<T[]> {
  outer.throwIfAborted();
  const inner = new AbortController();
  const pass = () => inner.abort(outer.reason);
  outer.addEventListener('abort', pass, { once: true });
  let failure: { error: unknown } | undefined;
  const run = async (task: (signal: AbortSignal) => Promise<T>) => {
    try {
      return await task(inner.signal);
    } catch (error) {
      failure ??= { error };
      inner.abort(error);
      throw error;
    }
  };
  try {
    const settled = await Promise.allSettled(tasks.map(run));
    if (failure) throw failure.error;
    return settled.map((result) => (result as PromiseFulfilledResult<T>).value);
  } finally {
    outer.removeEventListener('abort', pass);
  }
}
