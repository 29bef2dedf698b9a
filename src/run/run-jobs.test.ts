import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeJob } from '../../test/support/fake-parts.ts';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { BudgetError } from '../contracts/model.ts';
import type { SampleRecord } from '../schema/record.ts';
import type { Job } from './plan-jobs.ts';
import { type Execute, type JobsOutcome, type RunJobsOptions, runJobs } from './run-jobs.ts';

const jobsOf = (count: number): Job[] => Array.from({ length: count }, (_, i) => fakeJob({ key: `key ${i}` }));
const done = (job: Job): SampleRecord => ({ ...fakeDone({ id: 's' }), key: job.key });
const failed = (job: Job): SampleRecord => ({ ...fakeFailed({ id: 's' }), key: job.key });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Ran {
  outcome: JobsOutcome;
  /** Keys of the jobs that were started, and of those that were recorded, in order. */
  started: string[];
  recorded: string[];
}

interface Bench {
  options: Partial<RunJobsOptions>;
  stop: AbortController;
  signal: AbortController;
}

/** Runs jobs and sees to it that no listener stays on the signals. */
async function run(count: number, execute: Execute, make: (bench: Bench) => void = () => {}): Promise<Ran> {
  const bench: Bench = { options: {}, stop: new AbortController(), signal: new AbortController() };
  make(bench);
  const started: string[] = [];
  const recorded: string[] = [];
  const { onRecord, ...options } = bench.options;
  const outcome = await runJobs(jobsOf(count), {
    concurrency: 1,
    stop: bench.stop.signal,
    signal: bench.signal.signal,
    ...options,
    execute: (job, signal) => {
      started.push(job.key);
      return execute(job, signal);
    },
    onRecord: async (record) => {
      await onRecord?.(record);
      recorded.push(record.key);
    },
  });
  for (const { signal } of [bench.stop, bench.signal]) expect(getEventListeners(signal, 'abort')).toEqual([]);
  return { outcome, started, recorded };
}

const keys = (count: number) => jobsOf(count).map(({ key }) => key);

/** Never ends by itself; gives up with the reason when the signal aborts, as model calls do. */
const hang = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

describe('runJobs', () => {
  it('runs every job once, in order, and counts the outcomes', async () => {
    const execute: Execute = async (job) => (job.key === 'key 1' ? failed(job) : done(job));
    const { outcome, started, recorded } = await run(4, execute);
    expect(outcome).toEqual({ done: 3, failed: 1, abandoned: 0 });
    expect(started).toEqual(keys(4));
    expect(recorded).toEqual(keys(4));
  });

  it('has nothing to do without jobs', async () => {
    const { outcome } = await run(0, async (job) => done(job));
    expect(outcome).toEqual({ done: 0, failed: 0, abandoned: 0 });
  });

  it('keeps as many in flight as it may, and never more', async () => {
    const schedule = fc.array(fc.nat(3), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(schedule, fc.integer({ min: 1, max: 9 }), async (turns, concurrency) => {
        let inFlight = 0;
        let most = 0;
        const execute: Execute = async (job) => {
          most = Math.max(most, ++inFlight);
          for (let i = turns[Number(job.key.slice(4))] ?? 0; i > 0; i--) await turn();
          await turn();
          inFlight--;
          return done(job);
        };
        const { outcome } = await run(turns.length, execute, ({ options }) => Object.assign(options, { concurrency }));
        expect(most).toBe(Math.min(concurrency, turns.length));
        expect(outcome.done).toBe(turns.length);
      }),
      { numRuns: 40 },
    );
  });

  it('counts a job as in flight until its record is kept', async () => {
    let open = 0;
    const { outcome } = await run(
      6,
      async (job) => {
        expect(++open).toBeLessThanOrEqual(2);
        return done(job);
      },
      ({ options }) => {
        options.concurrency = 2;
        options.onRecord = async () => {
          await turn();
          open--;
        };
      },
    );
    expect(outcome.done).toBe(6);
  });

  it('starts nothing more once it is asked to stop, and lets what is in flight finish', async () => {
    let bench: Bench | undefined;
    const { outcome, started, recorded } = await run(
      10,
      async (job) => {
        if (job.key === 'key 2') bench?.stop.abort();
        await turn();
        return done(job);
      },
      (made) => {
        bench = made;
        made.options.concurrency = 3;
      },
    );
    expect(started).toEqual(keys(3));
    expect(recorded.sort()).toEqual(keys(3));
    expect(outcome).toEqual({ done: 3, failed: 0, abandoned: 0, stopped: { reason: 'interrupted' } });
  });

  it('is not stopped when all was in flight already', async () => {
    let bench: Bench | undefined;
    const execute: Execute = async (job) => {
      bench?.stop.abort();
      return done(job);
    };
    const { outcome } = await run(1, execute, (made) => {
      bench = made;
    });
    expect(outcome).toEqual({ done: 1, failed: 0, abandoned: 0 });
  });

  it.each(['stop', 'signal'] as const)('starts nothing when %s is aborted before', async (which) => {
    const { outcome, started } = await run(
      3,
      async (job) => done(job),
      (bench) => bench[which].abort(),
    );
    expect(started).toEqual([]);
    expect(outcome).toEqual({ done: 0, failed: 0, abandoned: 0, stopped: { reason: 'interrupted' } });
  });

  it('gives up what is in flight when the signal aborts, and records nothing for it', async () => {
    let bench: Bench | undefined;
    const reason = new Error('twice');
    const { outcome, started, recorded } = await run(
      10,
      async (job, signal) => {
        if (job.key === 'key 0') return done(job);
        if (job.key === 'key 3') setImmediate(() => bench?.signal.abort(reason));
        return hang(signal);
      },
      (made) => {
        bench = made;
        made.options.concurrency = 3;
      },
    );
    expect(started).toEqual(keys(4));
    expect(recorded).toEqual(['key 0']);
    expect(outcome).toEqual({ done: 1, failed: 0, abandoned: 3, stopped: { reason: 'interrupted' } });
  });

  it('stops at the limit of failures, and lets what is in flight finish', async () => {
    const { outcome, started } = await run(
      10,
      async (job) => (Number(job.key.slice(4)) % 2 === 1 ? failed(job) : done(job)),
      ({ options }) => {
        options.maxFailures = 2;
      },
    );
    expect(started).toEqual(keys(4));
    expect(outcome).toEqual({ done: 2, failed: 2, abandoned: 0, stopped: { reason: 'failure_limit' } });
  });

  it('stops where every sample of an arm is refused, and lets what is in flight finish', async () => {
    const refused = (job: Job): SampleRecord => ({
      ...fakeFailed({ id: 's', error: { code: 'model_auth', message: 'HTTP 401: no' } }),
      key: job.key,
    });
    const { outcome, recorded } = await run(
      20,
      async (job) => refused(job),
      ({ options }) => {
        options.concurrency = 2;
      },
    );
    expect(outcome.stopped).toMatchObject({ reason: 'refused', error: { code: 'model_auth' } });
    expect(outcome.failed).toBe(recorded.length);
    expect(recorded.length).toBeLessThanOrEqual(6);
    const mended = await run(20, async (job) => (job.key === 'key 4' ? done(job) : refused(job)));
    // Four, a success, five.
    expect(mended.recorded).toHaveLength(10);
  });

  it('stops when the budget is reached: nothing is recorded for that job, and what is in flight goes on', async () => {
    const error = new BudgetError('the budget of 1.00 USD is spent');
    const { outcome, started, recorded } = await run(
      10,
      async (job, signal) => {
        if (job.key === 'key 1') throw error;
        await turn();
        await turn();
        expect(signal.aborted).toBe(false);
        return done(job);
      },
      ({ options }) => {
        options.concurrency = 3;
      },
    );
    expect(started).toEqual(keys(3));
    expect(recorded).toEqual(['key 0', 'key 2']);
    expect(outcome).toEqual({ done: 2, failed: 0, abandoned: 1, stopped: { reason: 'budget', error } });
  });

  it('stops and gives up what is in flight when a job ends in a defect', async () => {
    const error = new TypeError('not a function');
    const { outcome, recorded } = await run(
      10,
      async (job, signal) => {
        if (job.key !== 'key 1') return hang(signal);
        await turn();
        throw error;
      },
      ({ options }) => {
        options.concurrency = 3;
      },
    );
    expect(recorded).toEqual([]);
    expect(outcome).toEqual({ done: 0, failed: 0, abandoned: 3, stopped: { reason: 'error', error } });
  });

  it('stops when a record cannot be kept: going on would pay for what is lost', async () => {
    const error = new Error('no space left on device');
    const { outcome, started, recorded } = await run(
      10,
      async (job, signal) => (job.key === 'key 2' ? hang(signal) : done(job)),
      ({ options }) => {
        options.concurrency = 2;
        options.onRecord = async (record) => {
          if (record.key === 'key 3') throw error;
        };
      },
    );
    expect(started).toEqual(keys(4));
    expect(recorded).toEqual(['key 0', 'key 1']);
    // The job whose record is lost is neither done nor failed: it runs again.
    expect(outcome).toEqual({ done: 2, failed: 0, abandoned: 1, stopped: { reason: 'error', error } });
  });
});
