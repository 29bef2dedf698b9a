import { relative } from 'node:path';
import { type ExecutedRun, executeRun } from '../config/execute-run.ts';
import type { Run } from '../config/run.ts';
import { oneLine, safeTerminal } from '../lib/escape.ts';
import { plural } from '../report/format.ts';
import type { Shard } from '../run/shard.ts';
import { type FailureGroup, FailureGroups, failureLines } from './failure-groups.ts';
import { hostOf } from './host.ts';
import { type Interrupts, watchInterrupts } from './interrupts.ts';
import { exit, type Io } from './io.ts';
import { poolNotes } from './pool-notes.ts';
import { liveProgress, type Progress, silentProgress } from './progress.ts';

export interface PerformOptions {
  run: Run;
  outputDir: string;
  experiments?: readonly string[];
  shard?: Shard;
  quiet?: boolean;
}

export interface Performed {
  executed: ExecutedRun;
  code: number;
  /** Why samples failed in this sitting. */
  failures: FailureGroup[];
}

function exitCode(executed: ExecutedRun, interrupts: Interrupts): number {
  const unfinished = executed.statuses.some((status) => status.state === 'stopped');
  if (unfinished && (interrupts.asked || executed.stopped?.reason === 'interrupted')) return exit.interrupted;
  if (unfinished) return exit.stopped;
  return executed.statuses.some((status) => status.failed > 0) ? exit.withFailures : exit.done;
}

/** Runs with a progress display and Ctrl-C, and says how it ended. */
export async function performRun(options: PerformOptions, io: Io): Promise<Performed> {
  const { run, outputDir, experiments, shard, quiet } = options;
  const interrupts = watchInterrupts(io);
  const host = hostOf(io);
  const failures = new FailureGroups();
  let progress: Progress = silentProgress;
  let started: Promise<void> = Promise.resolve();
  try {
    const executed = await executeRun({
      run,
      host,
      outputDir,
      ...(experiments ? { experiments } : {}),
      ...(shard ? { shard } : {}),
      stop: interrupts.stop,
      signal: interrupts.signal,
      onPlan: ({ planned, pending, assembly: { benchmark, arms, loaded } }) => {
        if (quiet) return;
        for (const note of poolNotes(arms, loaded.samples)) io.note(safeTerminal(`Note: ${note}`));
        progress = liveProgress({
          io,
          clock: host.clock,
          headlineName: benchmark.headlineName,
          headline: (record) => (record.status === 'done' ? benchmark.headline(record.grade) : undefined),
        });
        started = progress.start({ planned, pending });
      },
      onRecord: (record) => {
        failures.add(record);
        progress.record(record);
      },
    });
    await started;
    progress.stop();
    progress = silentProgress;
    return { executed, code: exitCode(executed, interrupts), failures: failures.sorted };
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
  refused: 'It was stopped, as every further sample would fail in the same way:',
  error: 'An error stopped it.',
} as const;

/** What a user wants to know when a run has ended: how far it got, what failed, and what to do. */
export function describeEnd({ executed, failures }: Performed, io: Io): string[] {
  const { statuses, stopped, outputDir, planned } = executed;
  const done = statuses.reduce((sum, status) => sum + status.done, 0);
  const failed = statuses.reduce((sum, status) => sum + status.failed, 0);
  const where = relative(io.cwd, outputDir) || '.';
  const lines = [
    `${done} of ${plural(planned, 'sample')} done, ${failed} failed. Results: ${where}`,
    ...failureLines(failures),
  ];
  const unfinished = statuses.some((status) => status.state === 'stopped');
  if (stopped && unfinished) {
    const message = stopped.error instanceof Error ? ` ${oneLine(stopped.error.message).replace(/\.*$/, '.')}` : '';
    const first = { budget: 'Raise the limit; the', refused: 'Mend that; the' } as Record<string, string>;
    const how = first[stopped.reason] ?? 'The';
    lines.push(`${reasons[stopped.reason]}${message} ${how} same command goes on where it stopped.`);
  } else if (failed > 0) lines.push('Failed samples are listed in the reports; the same command tries them again.');
  return lines;
}
