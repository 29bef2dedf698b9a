import { BudgetError } from '../../contracts/model.ts';
import { linkedAbort } from '../../lib/linked-abort.ts';

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
  const inner = linkedAbort(outer);
  let failure: { error: unknown } | undefined;
  const run = async (task: (signal: AbortSignal) => Promise<T>) => {
    try {
      return await task(inner.signal);
    } catch (error) {
      failure ??= { error };
      // A spent budget means that no more may begin. What is under way is paid for, and its replies are kept.
      if (!(error instanceof BudgetError)) inner.abort(error);
      throw error;
    }
  };
  try {
    const settled = await Promise.allSettled(tasks.map(run));
    if (failure) throw failure.error;
    return settled.map((result) => (result as PromiseFulfilledResult<T>).value);
  } finally {
    inner.release();
  }
}
