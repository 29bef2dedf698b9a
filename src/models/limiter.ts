import type { Clock } from '../contracts/call.ts';
import { onAbort } from './on-abort.ts';

/** `refused`: the server said that it is asked too often. `failed`: anything else that went wrong. */
export type Outcome = 'answered' | 'refused' | 'failed';

export interface Slot {
  /** Gives the slot back. Call it once. */
  release(outcome: Outcome, retryAfterMs?: number): void;
}

export interface Limiter {
  /** Waits for a slot, first come, first served. Rejects with the signal's reason when it aborts. */
  acquire(signal: AbortSignal): Promise<Slot>;
  /** Lowers the upper bound, where several models of one account name different ones. */
  restrict(max: number): void;
  readonly limit: number;
  readonly running: number;
  readonly waiting: number;
}

/** What a refusal takes and an answer gives back, in slots: below one refusal in nine the limit holds its ground. */
const SHRINK = 1 / 2;
const GROW = 1 / 16;
/** Refusals in a row after which a Retry-After holds for everybody. */
const PAUSE_AFTER = 3;
/** The longest pause for everybody; who is told to wait longer than this waits alone. */
const MAX_PAUSE_MS = 60_000;

interface Waiter {
  grant: () => void;
  gone: boolean;
}

/**
 * Bounds the requests in flight to one account, and finds the bound that the server bears: each refusal takes half a
 * slot, so that a full load refused whole halves the limit, and each answer gives a sixteenth back up to `max`.
 *
 * One refusal among many answers concerns its own caller alone. Three in a row mean that the account has run into its
 * limit: then nobody starts until the last Retry-After is over.
 */
export function createLimiter({ max, clock }: { max: number; clock: Clock }): Limiter {
  let ceiling = max;
  let limit = max;
  let running = 0;
  let refusedInARow = 0;
  let pausedUntil = 0;
  let pause: AbortController | undefined;
  const queue = createQueue();

  const paused = () => pausedUntil > clock.monotonic();
  const free = () => running < Math.floor(limit);

  /** Starts whoever may start. Invariant: after it, nobody waits who could run. */
  const pump = () => {
    if (paused()) return waitOut();
    while (free()) {
      const waiter = queue.take();
      if (waiter === undefined) return;
      running++;
      waiter.grant();
    }
  };

  /** One sleep, however many wait; none while nobody waits, so that it keeps no process alive. */
  const waitOut = () => {
    if (pause !== undefined || queue.size() === 0) return;
    const mine = new AbortController();
    pause = mine;
    const over = () => {
      if (pause === mine) pause = undefined;
      pump();
    };
    clock.sleep(pausedUntil - clock.monotonic(), mine.signal).then(over, () => {});
  };

  const leave = (waiter: Waiter) => {
    queue.drop(waiter);
    if (queue.size() > 0) return;
    pause?.abort();
    pause = undefined;
  };

  const learn = (outcome: Outcome, retryAfterMs: number | undefined) => {
    if (outcome === 'answered') {
      refusedInARow = 0;
      limit = Math.min(ceiling, limit + GROW);
    } else if (outcome === 'refused') {
      refusedInARow++;
      limit = Math.max(1, limit - SHRINK);
      if (retryAfterMs !== undefined && refusedInARow >= PAUSE_AFTER) {
        pausedUntil = Math.max(pausedUntil, clock.monotonic() + Math.min(retryAfterMs, MAX_PAUSE_MS));
      }
    }
  };

  const slot = (): Slot => {
    let released = false;
    return {
      release: (outcome, retryAfterMs) => {
        if (released) return;
        released = true;
        running--;
        learn(outcome, retryAfterMs);
        pump();
      },
    };
  };

  const enqueue = (signal: AbortSignal): Promise<Slot> =>
    new Promise((resolve, reject) => {
      const abort = () => {
        leave(waiter);
        reject(signal.reason);
      };
      const grant = () => {
        off();
        resolve(slot());
      };
      const waiter: Waiter = { grant, gone: false };
      const off = onAbort(signal, abort);
      queue.add(waiter);
      if (paused()) waitOut();
    });

  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      if (queue.size() > 0 || paused() || !free()) return enqueue(signal);
      running++;
      return slot();
    },
    restrict: (most) => {
      ceiling = Math.min(ceiling, most);
      limit = Math.min(limit, ceiling);
    },
    get limit() {
      return Math.floor(limit);
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.size();
    },
  };
}

/** First in, first out; who leaves early is skipped when its turn comes. Every operation takes constant time on average. */
function createQueue() {
  let items: Waiter[] = [];
  let head = 0;
  let size = 0;
  return {
    size: () => size,
    add(waiter: Waiter): void {
      items.push(waiter);
      size++;
    },
    drop(waiter: Waiter): void {
      waiter.gone = true;
      size--;
    },
    take(): Waiter | undefined {
      while (head < items.length) {
        const waiter = items[head++] as Waiter;
        if (head >= 1024 && head * 2 >= items.length) {
          items = items.slice(head);
          head = 0;
        }
        if (waiter.gone) continue;
        size--;
        return waiter;
      }
      return undefined;
    },
  };
}
