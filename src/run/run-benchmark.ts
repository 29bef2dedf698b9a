import type { Agent } from '../contracts/agent.ts';
import type { Benchmark, Sample } from '../contracts/benchmark.ts';
import type { Clock } from '../contracts/call.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import type { RunStore } from '../contracts/store.ts';
import { messageOf } from '../lib/errors.ts';
import type { RunStatus, SampleRecord } from '../schema/record.ts';
import { type PlannedArm, pendingJobs, planJobs } from './plan-jobs.ts';
import { type Execute, type JobsOutcome, runJobs } from './run-jobs.ts';
import { runSample } from './run-sample.ts';
import { scopeSlots } from './scope-slots.ts';

export interface RunnableArm extends PlannedArm {
  agent: Agent;
  memory: MemoryBackend;
  agentName: string;
  agentKind: string;
  memoryName: string;
  defence?: { name: string; kind: string };
}

export interface RunInput {
  runId: string;
  fingerprint: string;
  benchmark: Benchmark;
  /** What of the benchmark's configuration can change an outcome. */
  benchmarkIdentity: unknown;
  samples: readonly Sample[];
  arms: readonly RunnableArm[];
  repeats: number;
  seed: number;
  concurrency: number;
  readyTimeoutS: number;
  memoryTimeoutS: number;
  maxFailures?: number;
  store: RunStore;
  clock: Clock;
  versions: { heams: string; node: string };
  /** Aborted: start nothing more. */
  stop: AbortSignal;
  /** Aborted: give up what is under way as well. */
  signal: AbortSignal;
  /** Told of every record once it is stored. */
  onRecord?(record: SampleRecord): Promise<void>;
  /** Told once what is planned and what an earlier run has done of it. */
  onPlan?(plan: { planned: number; pending: number }): void;
  /** Runs a job elsewhere than in this process. */
  execute?: Execute;
}

export interface RunOutcome extends JobsOutcome {
  planned: number;
  /** Of the planned jobs, those that were done before this run. */
  resumed: number;
  statuses: RunStatus[];
}

const STATUS_EVERY_MS = 2000;

/** One arm's counts while the run goes on. */
interface Tally {
  planned: number;
  done: number;
  failed: Set<string>;
  /** Jobs that this run has not recorded yet. */
  left: number;
}

/** Keeps `run_status.json` of every arm up to date: at the start, every few seconds, and at the end. */
class StatusBoard {
  private readonly tallies = new Map<string, Tally>();
  private readonly input: RunInput;
  private readonly startedAt: string;
  private writtenAt = 0;
  private writing: Promise<void> = Promise.resolve();

  constructor(input: RunInput) {
    this.input = input;
    this.startedAt = new Date(input.clock.now()).toISOString();
  }

  plan(experiment: string, tally: Tally): void {
    this.tallies.set(experiment, tally);
  }

  count(record: SampleRecord): void {
    const tally = this.tallies.get(record.experiment);
    if (!tally) return;
    tally.left -= 1;
    if (record.status === 'failed') tally.failed.add(record.key);
    else {
      tally.failed.delete(record.key);
      tally.done += 1;
    }
  }

  statuses(stopped?: JobsOutcome['stopped'], finished = false): RunStatus[] {
    const { runId, fingerprint, clock } = this.input;
    return [...this.tallies].map(([experiment, { planned, done, failed, left }]) => {
      const complete = left === 0;
      const ended = failed.size > 0 ? ('done_with_failures' as const) : ('done' as const);
      return {
        version: 1 as const,
        run_id: runId,
        experiment,
        state: !finished ? ('running' as const) : stopped && !complete ? ('stopped' as const) : ended,
        ...(finished && stopped && !complete ? { stop_reason: stopped.reason } : {}),
        ...(finished && stopped?.error && !complete ? { stop_message: messageOf(stopped.error).slice(0, 500) } : {}),
        planned,
        done,
        failed: failed.size,
        fingerprint,
        started_at: this.startedAt,
        updated_at: new Date(clock.now()).toISOString(),
      };
    });
  }

  /** Writes one after the other, so that an older status never replaces a newer one. */
  write(statuses: readonly RunStatus[]): Promise<void> {
    this.writing = this.writing.then(async () => {
      for (const status of statuses) await this.input.store.writeStatus(status);
    });
    return this.writing;
  }

  async writeNowAndThen(): Promise<void> {
    const now = this.input.clock.monotonic();
    if (now - this.writtenAt < STATUS_EVERY_MS) return;
    this.writtenAt = now;
    await this.write(this.statuses());
  }
}

/** Runs jobs in this process. */
function localExecute(input: RunInput): Execute {
  const { runId, benchmark, readyTimeoutS, memoryTimeoutS, clock, versions } = input;
  const shared = { runId, benchmark, readyTimeoutS, memoryTimeoutS, clock, versions };
  const parts = new Map(input.arms.map(({ name, identity: _, ...arm }) => [name, { ...shared, ...arm }]));
  const slots = new Map(input.arms.map(({ memory }) => [memory, scopeSlots(memory)]));
  return (job, signal) => {
    const own = parts.get(job.experiment);
    const withSlot = own && slots.get(own.memory);
    if (!withSlot) throw new Error(`no arm is called ${job.experiment}`);
    return withSlot(signal, () => runSample(job, own, signal));
  };
}

/** Plans the run, leaves out what is done, and runs the rest. */
export async function runBenchmark(input: RunInput): Promise<RunOutcome> {
  const { arms, samples, repeats, seed, store } = input;
  const jobs = planJobs({ benchmark: input.benchmarkIdentity, arms, samples, repeats, seed });
  const board = new StatusBoard(input);
  const done = new Map<string, ReadonlySet<string>>();
  for (const arm of arms) {
    const finished = await store.finished(arm.name);
    done.set(arm.name, finished.done);
    const own = jobs.filter((job) => job.experiment === arm.name);
    const left = own.filter((job) => !finished.done.has(job.key)).length;
    board.plan(arm.name, {
      planned: own.length,
      done: own.length - left,
      left,
      failed: new Set(own.filter((job) => finished.failed.has(job.key)).map((job) => job.key)),
    });
  }
  const pending = pendingJobs(jobs, done);
  input.onPlan?.({ planned: jobs.length, pending: pending.length });
  await board.write(board.statuses());

  const outcome = await runJobs(pending, {
    execute: input.execute ?? localExecute(input),
    concurrency: input.concurrency,
    stop: input.stop,
    signal: input.signal,
    ...(input.maxFailures === undefined ? {} : { maxFailures: input.maxFailures }),
    onRecord: async (record) => {
      await store.append(record);
      board.count(record);
      await input.onRecord?.(record);
      await board.writeNowAndThen();
    },
  });
  const statuses = board.statuses(outcome.stopped, true);
  // A store that cannot take a record may not take a status either; the first error is the one to tell.
  const written = board.write(statuses);
  if (outcome.stopped?.reason === 'error') await written.catch(() => undefined);
  else await written;
  return { ...outcome, planned: jobs.length, resumed: jobs.length - pending.length, statuses };
}
