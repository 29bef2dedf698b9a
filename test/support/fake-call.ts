import type { CallContext, Clock } from '../../src/contracts/call.ts';
import { emptyUsage, type Usage } from '../../src/schema/usage.ts';

export interface FakeCall extends CallContext {
  /** What was metered so far, by stage. */
  readonly spent: Usage;
}

/** A call context for tests: never aborts unless given a signal, and adds up what is metered. */
export function fakeCall(overrides: Partial<Pick<CallContext, 'signal' | 'stage' | 'salt' | 'job'>> = {}): FakeCall {
  const spent = emptyUsage();
  return {
    signal: new AbortController().signal,
    stage: 'agent',
    salt: 'sample:0',
    job: 'job0',
    ...overrides,
    spent,
    meter: {
      add(stage, amounts) {
        for (const [key, amount] of Object.entries(amounts)) spent[stage][key as keyof Usage['agent']] += amount;
      },
    },
  };
}

export interface ManualClock extends Clock {
  /** Moves time on and wakes the sleepers that are due, in the order of their due times. */
  advance(ms: number): Promise<void>;
  /** How many sleep at this moment. */
  readonly sleepers: number;
}

interface Sleeper {
  due: number;
  wake(): void;
}

/** A clock that stands still until a test moves it. */
export function manualClock(start = 0): ManualClock {
  let time = start;
  let asleep: Sleeper[] = [];

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const give = () => {
        asleep = asleep.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        due: time + ms,
        wake() {
          signal?.removeEventListener('abort', give);
          resolve();
        },
      };
      signal?.addEventListener('abort', give, { once: true });
      asleep.push(sleeper);
    });
  }

  return {
    now: () => time,
    monotonic: () => time - start,
    sleep,
    async advance(ms) {
      const end = time + ms;
      for (;;) {
        // Whoever was woken last gets to run first, so that a sleep it starts is seen too.
        await new Promise((resolve) => setImmediate(resolve));
        const next = asleep.filter((sleeper) => sleeper.due <= end).sort((a, b) => a.due - b.due)[0];
        if (!next) break;
        asleep = asleep.filter((other) => other !== next);
        time = Math.max(time, next.due);
        next.wake();
      }
      time = end;
    },
    get sleepers() {
      return asleep.length;
    },
  };
}
