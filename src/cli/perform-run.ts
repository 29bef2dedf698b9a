import { relative } from 'node:path';
import { type ExecutedRun, executeRun } from '../config/execute-run.ts';
import type { Run } from '../config/run.ts';
import { hostOf } from './host.ts';
import { type Interrupts, watchInterrupts } from './interrupts.ts';
import { exit, type Io } from './io.ts';
import { liveProgress, type Progress, silentProgress } from './progress.ts';

export interface PerformOptions {
  run: Run;
  outputDir: string;
  experiments?: readonly string[];
  quiet?: boolean;
}

export interface Performed {
  executed: ExecutedRun;
  code: number;
}

function exitCode(executed: ExecutedRun, interrupts: Interrupts): number {
  const unfinished = executed.statuses.some((status) => status.state === 'stopped');
  if (unfinished && (interrupts.asked || executed.stopped?.reason === 'interrupted')) return exit.interrupted;
  if (unfinished) return exit.stopped;
  return executed.statuses.some((status) => status.failed > 0) ? exit.withFailures : exit.done;
}

/** Runs with a progress display and Ctrl-C, and says how it ended. */
export async function performRun({ run, outputDir, experiments, quiet }: PerformOptions, io: Io): Promise<Performed> {
  const interrupts = watchInterrupts(io);
  const host = hostOf(io);
  let progress: Progress = silentProgress;
  let started: Promise<void> = Promise.resolve();
  try {
    const executed = await executeRun({
      run,
      host,
      outputDir,
      ...(experiments ? { experiments } : {}),
      stop: interrupts.stop,
      signal: interrupts.signal,
      onPlan: ({ planned, pending, assembly: { benchmark } }) => {
        if (quiet) return;
        progress = liveProgress({
          io,
          clock: host.clock,
          headlineName: benchmark.headlineName,
          headline: (record) => (record.status === 'done' ? benchmark.headline(record.grade) : undefined),
        });
        started = progress.start({ planned, pending });
      },
      onRecord: (record) => progress.record(record),
    });
    await started;
    progress.stop();
    progress = silentProgress;
    return { executed, code: exitCode(executed, interrupts) };
  } finally {
    progress.stop();
    interrupts.release();
  }
}

/** Whether there is anything to report on. */
export const hasRecords = ({ statuses }: ExecutedRun): boolean =>
  statuses.some(({ done, failed }) => done + failed > 0);

const reasons = {
  interrupted: 'It was interrupted.',
  budget: 'The budget is spent:',
  failure_limit: 'Too many samples failed.',
  error: 'An error stopped it.',
} as const;

/** What a user wants to know when a run has ended: how far it got, what failed, and what to do. */
export function describeEnd({ executed }: Performed, io: Io): string[] {
  const { statuses, stopped, outputDir, planned } = executed;
  const done = statuses.reduce((sum, status) => sum + status.done, 0);
  const failed = statuses.reduce((sum, status) => sum + status.failed, 0);
  const where = relative(io.cwd, outputDir) || '.';
  const lines = [`${done} of ${planned} samples done, ${failed} failed. Results: ${where}`];
  const unfinished = statuses.some((status) => status.state === 'stopped');
  if (stopped && unfinished) {
    const message = stopped.error instanceof Error ? ` ${stopped.error.message}` : '';
    const how = stopped.reason === 'budget' ? 'Raise the limit; the' : 'The';
    lines.push(
      `${reasons[stopped.reason]}${message}${message ? '.' : ''} ${how} same command goes on where it stopped.`,
    );
  } else if (failed > 0) lines.push('Failed samples are listed in the reports; the same command tries them again.');
  return lines;
}
