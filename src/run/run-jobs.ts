import { BudgetError } from '../contracts/model.ts';
import { linkedAbort } from '../lib/linked-abort.ts';
import type { SampleRecord } from '../schema/record.ts';
import type { Job } from './plan-jobs.ts';
import { RefusalWatch } from './refusal-watch.ts';

/** Runs one job somewhere: in this process, or on a queue. */
export type Execute = (job: Job, signal: AbortSignal) => Promise<SampleRecord>;

export interface RunJobsOptions {
  execute: Execute;
  /** Jobs in flight at once. */
  concurrency: number;
  /** Aborted: start nothing more, and let what is in flight finish. */
  stop: AbortSignal;
  /** Aborted: give up what is in flight as well. */
  signal: AbortSignal;
  /** Stop after this many failed records. */
  maxFailures?: number;
  /** Must resolve before the record counts as done. */
  onRecord(record: SampleRecord): Promise<void>;
}

export interface JobsOutcome {
  done: number;
  failed: number;
  /** Jobs that were started and given up: they leave no record and run again. */
  abandoned: number;
  stopped?: { reason: 'interrupted' | 'budget' | 'failure_limit' | 'refused' | 'error'; error?: unknown };
}

/**
 * The local pool. Each worker takes the next job when its last one is recorded, so at most `concurrency` jobs are in
 * memory. A store that cannot write stops the run: going on would be paying for what is lost. So does an arm that is
 * refused again and again, as by a wrong key: what is in flight is finished, and the rest runs on resume.
 */
export async function runJobs(jobs: readonly Job[], options: RunJobsOptions): Promise<JobsOutcome> {
  const { execute, concurrency, stop, signal, maxFailures, onRecord } = options;
  const outcome: JobsOutcome = { done: 0, failed: 0, abandoned: 0 };
  const flight = linkedAbort(signal);
  const refusals = new RefusalWatch();
  let next = 0;

  const stopFor = (stopped: NonNullable<JobsOutcome['stopped']>): void => {
    outcome.stopped ??= stopped;
  };

  const work = async (): Promise<void> => {
    while (!outcome.stopped && next < jobs.length) {
      if (stop.aborted || signal.aborted) return stopFor({ reason: 'interrupted' });
      const job = jobs[next++] as Job;
      let record: SampleRecord;
      try {
        record = await execute(job, flight.signal);
      } catch (error) {
        outcome.abandoned += 1;
        if (error instanceof BudgetError) stopFor({ reason: 'budget', error });
        else if (flight.signal.aborted) stopFor({ reason: 'interrupted' });
        else {
          stopFor({ reason: 'error', error });
          flight.abort(error);
        }
        continue;
      }
      try {
        await onRecord(record);
      } catch (error) {
        stopFor({ reason: 'error', error });
        flight.abort(error);
        return;
      }
      outcome[record.status] += 1;
      if (maxFailures !== undefined && outcome.failed >= maxFailures) stopFor({ reason: 'failure_limit' });
      const refused = refusals.see(record);
      if (refused) stopFor({ reason: 'refused', error: refused });
    }
  };

  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, work));
  } finally {
    flight.release();
  }
  return outcome;
}
