import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../contracts/call.ts';

/** The real clock. Tests bring their own. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
