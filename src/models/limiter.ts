import type { Clock } from '../contracts/call.ts';
import { onAbort } from '../lib/on-abort.ts';

/** `refused`: the server said that it is asked too often. `failed`: anything else that went wrong. */
export type Outcome = 'answered' | 'refused' | 'failed';

export interface Slot {
  /** Gives the slot back. Call it once. */
  release(outcome: Outcome, retryAfterMs?: number): void;
}

/** What a refusal takes and an answer gives back, in slots: below one refusal in nine the limit holds its ground. */
const SHRINK = 1 / 2;
const GROW = 1 / 16;
/** Refusals in a row after which a Retry-After holds for everybody. */
const PAUSE_AFTER = 3;
/** The longest pause for everybody; who is told to wait longer than this waits alone. */
const MAX_PAUSE_MS = 60_000;

interface Waiter {
  grant: (slot: Slot) => void;
  gone: boolean;
}

/**
 * Bounds the requests in flight to one account, and finds the bound that the server bears: each refusal takes half a
 * slot, so that a full load refused whole halves the limit, and each answer gives a sixteenth back up to `max`.
 *
 * One refusal among many answers concerns its own caller alone. Three in a row mean that the account has run into its
 * limit: then nobody starts until the last Retry-After is over.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #queue = new Queue();
  #max: number;
  #limit: number;
  #running = 0;
  #refusedInARow = 0;
  /** On the clock's monotonic time, in milliseconds. */
  #pausedUntil = 0;
  #pause: AbortController | undefined;

  constructor({ max, clock }: { max: number; clock: Clock }) {
    this.#clock = clock;
    this.#max = max;
    this.#limit = max;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Lowers the upper bound, where several models of one account name different ones. */
  restrict(max: number): void {
    this.#max = Math.min(this.#max, max);
    this.#limit = Math.min(this.#limit, this.#max);
  }

  /** Waits for a slot, first come, first served. Rejects with the signal's reason when it aborts. */
  async acquire(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#queue.size > 0 || this.#paused() || this.#running >= this.limit) return this.#enqueue(signal);
    return this.#start();
  }

  #paused(): boolean {
    return this.#pausedUntil > this.#clock.monotonic();
  }

  #start(): Slot {
    this.#running++;
    let released = false;
    return {
      release: (outcome, retryAfterMs) => {
        if (released) return;
        released = true;
        this.#running--;
        this.#learn(outcome, retryAfterMs);
        this.#startWaiting();
      },
    };
  }

  #learn(outcome: Outcome, retryAfterMs: number | undefined): void {
    if (outcome === 'answered') {
      this.#refusedInARow = 0;
      this.#limit = Math.min(this.#max, this.#limit + GROW);
    } else if (outcome === 'refused') {
      this.#refusedInARow++;
      this.#limit = Math.max(1, this.#limit - SHRINK);
      if (retryAfterMs === undefined || this.#refusedInARow < PAUSE_AFTER) return;
      const until = this.#clock.monotonic() + Math.min(retryAfterMs, MAX_PAUSE_MS);
      this.#pausedUntil = Math.max(this.#pausedUntil, until);
    }
  }

  /** Invariant: after it, nobody waits who could run. */
  #startWaiting(): void {
    if (this.#paused()) this.#sleepOut();
    while (!this.#paused() && this.#running < this.limit) {
      const waiter = this.#queue.take();
      if (waiter === undefined) return;
      waiter.grant(this.#start());
    }
  }

  #enqueue(signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        gone: false,
        grant: (slot) => {
          off();
          resolve(slot);
        },
      };
      const off = onAbort(signal, () => {
        this.#leave(waiter);
        reject(signal.reason);
      });
      this.#queue.add(waiter);
      if (this.#paused()) this.#sleepOut();
    });
  }

  /** One sleep, however many wait; none while nobody waits, so that it keeps no process alive. */
  #sleepOut(): void {
    if (this.#pause !== undefined || this.#queue.size === 0) return;
    const pause = new AbortController();
    this.#pause = pause;
    const over = () => {
      if (this.#pause === pause) this.#pause = undefined;
      this.#startWaiting();
    };
    this.#clock.sleep(this.#pausedUntil - this.#clock.monotonic(), pause.signal).then(over, () => {});
  }

  #leave(waiter: Waiter): void {
    this.#queue.drop(waiter);
    if (this.#queue.size > 0) return;
    this.#pause?.abort();
    this.#pause = undefined;
  }
}

/** First in, first out; who leaves early is skipped in turn. Every operation takes constant time on average. */
class Queue {
  size = 0;
  #items: Waiter[] = [];
  #head = 0;

  add(waiter: Waiter): void {
    this.#items.push(waiter);
    this.size++;
  }

  drop(waiter: Waiter): void {
    waiter.gone = true;
    this.size--;
  }

  take(): Waiter | undefined {
    while (this.#head < this.#items.length) {
      const waiter = this.#items[this.#head++] as Waiter;
      if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
        this.#items = this.#items.slice(this.#head);
        this.#head = 0;
      }
      if (waiter.gone) continue;
      this.size--;
      return waiter;
    }
    return undefined;
  }
}
