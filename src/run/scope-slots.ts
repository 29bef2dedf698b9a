import type { MemoryBackend } from '../contracts/memory.ts';
import { abortable } from '../lib/abortable.ts';

/** Runs work while one of a backend's scopes is free for it. */
export type WithSlot = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Holds a backend to the scopes that it can have open at once (`max_concurrency`). Whoever waits is served in turn, and
 * waits before the sample begins, so that the wait is in nobody's timings.
 */
export function scopeSlots({ capabilities }: Pick<MemoryBackend, 'capabilities'>): WithSlot {
  const limit = capabilities.max_concurrency;
  if (limit === undefined) return (_signal, work) => work();
  // At 0, or at what is no number, everybody would wait for ever.
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`max_concurrency is a whole number from 1, got ${limit}`);
  let free = limit;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  const acquire = async (signal: AbortSignal): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    let served = () => {};
    const turn = new Promise<void>((resolve) => {
      served = resolve;
    });
    waiting.push(served);
    try {
      await abortable(turn, signal);
    } catch (error) {
      const place = waiting.indexOf(served);
      if (place >= 0) waiting.splice(place, 1);
      // It was this one's turn in the moment of giving up: the slot goes to the next.
      else release();
      throw error;
    }
  };
  return async (signal, work) => {
    await acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  };
}
