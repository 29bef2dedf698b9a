import type { Clock } from '../contracts/call.ts';
import { abortable } from './abortable.ts';
import { linkedAbort } from './linked-abort.ts';

export interface TimeLimit {
  seconds: number;
  clock: Pick<Clock, 'sleep'>;
  /** Gives the work up, with its reason, whatever the work does about it. */
  signal: AbortSignal;
  /** The error of an answer that did not come in time. */
  late(): Error;
}

/** Made once: an abort without a reason builds an error with a stack. */
const DONE = new Error('it is over');

/**
 * What the work gives in time. Its signal aborts with the run's, and with the error where the time is up; what it does
 * afterwards is ignored. Nothing is left on the run's signal, and no timer outlives the work.
 */
export async function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { seconds, clock, signal, late }: TimeLimit,
): Promise<T> {
  const own = linkedAbort(signal);
  const timer = new AbortController();
  const tooLate = clock.sleep(seconds * 1000, timer.signal).then(() => {
    const error = late();
    own.abort(error);
    throw error;
  });
  const answer = (async () => work(own.signal))();
  tooLate.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    return await abortable(Promise.race([answer, tooLate]), signal);
  } finally {
    timer.abort(DONE);
    own.release();
  }
}
