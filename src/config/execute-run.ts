import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { VERSION } from '../lib/version.ts';
import type { Budget } from '../models/with-budget.ts';
import { type RunOutcome, runBenchmark } from '../run/run-benchmark.ts';
import { type Shard, shardName, shardOf } from '../run/shard.ts';
import type { Json } from '../schema/json.ts';
import type { SampleRecord } from '../schema/record.ts';
import type { WrittenNote } from '../schema/run-file.ts';
import { RunFolder } from '../store/run-folder.ts';
import { type Assembly, assemble, type Host } from './assemble.ts';
import { checkRun } from './check-run.ts';
import { fingerprintOf, runIdentity } from './identity.ts';
import { builtinRegistry, type Registry } from './registry.ts';
import type { Run } from './run.ts';
import { spentBefore } from './spent-before.ts';
import { resumableNote, writeRunConfigs } from './written-config.ts';

/** Where replies of unfinished jobs are kept; it is gone when all are done. */
const JOURNAL_FOLDER = '.calls';

export interface ExecuteOptions {
  run: Run;
  host: Host;
  outputDir: string;
  /** Run these arms alone; all where absent. */
  experiments?: readonly string[];
  /** Run this part of the samples alone; all where absent. */
  shard?: Shard;
  registry?: Registry;
  /** Aborted: start nothing more. */
  stop: AbortSignal;
  /** Aborted: give up what is under way as well. */
  signal: AbortSignal;
  /** Told when the samples are there and the plan is made. */
  onPlan?(plan: { planned: number; pending: number; assembly: Assembly; budget: Budget; runId: string }): void;
  onRecord?(record: SampleRecord): void;
}

export interface ExecutedRun extends RunOutcome {
  runId: string;
  outputDir: string;
}

/** Sorts by time and cannot collide. */
export function newRunId(nowMs: number, entropy: Uint8Array): string {
  const time = new Date(nowMs).toISOString().replace(/[-:.]/g, '');
  return `${time}-${Buffer.from(entropy).toString('hex')}`;
}

/** The folder's own note when it is resumed, or a new one. */
async function noteFor(
  { run, host, registry = builtinRegistry }: ExecuteOptions,
  folder: RunFolder,
  source: { [key: string]: Json },
): Promise<WrittenNote> {
  const earlier = await resumableNote(folder.dir, run, source, registry);
  if (earlier) return earlier;
  const now = host.clock.now();
  return {
    run_id: newRunId(now, randomBytes(4)),
    version: VERSION,
    created_at: new Date(now).toISOString(),
    fingerprint: fingerprintOf(runIdentity(run, source)),
    dataset: source,
  };
}

/**
 * A whole run, from checked config to records on disk: checks models and keys, claims the folder, loads the samples,
 * refuses a folder of another configuration, and runs what is not done yet. Reports are made from the records, later.
 *
 * @throws HeamsError for whatever keeps the run from starting, or the store from taking a record.
 */
export async function executeRun(options: ExecuteOptions): Promise<ExecutedRun> {
  const { run, host, outputDir, stop, signal } = options;
  const { settings } = run;
  const selected: Run = { ...run, arms: run.arms.filter((arm) => options.experiments?.includes(arm.name) ?? true) };
  await checkRun(selected, host.env);
  const { createBudget } = await import('../models/with-budget.ts');
  const { createJournal } = await import('../models/journal.ts');
  const journal = createJournal(join(outputDir, JOURNAL_FOLDER));
  const folder = await RunFolder.open(outputDir, new Date(host.clock.now()).toISOString());
  let assembly: Assembly | undefined;
  let complete = false;
  try {
    const budget = createBudget(settings.budget);
    const made = await assemble(selected, host, { budget, journal, signal: stop });
    assembly = made;
    const { shard: _, ...whole } = await noteFor(options, folder, made.loaded.source);
    const note = options.shard ? { ...whole, shard: shardName(options.shard) } : whole;
    if (Object.keys(settings.budget).length > 0) {
      budget.add(
        await spentBefore(
          folder,
          run.arms.map((arm) => arm.name),
          journal,
        ),
      );
    }
    const { arms } = made;
    await writeRunConfigs(
      run,
      arms.map((arm) => arm.name),
      note,
      folder,
    );
    const outcome = await runBenchmark({
      runId: note.run_id,
      fingerprint: note.fingerprint,
      benchmark: made.benchmark,
      benchmarkIdentity: made.benchmarkIdentity,
      samples: options.shard ? shardOf(made.loaded.samples, options.shard) : made.loaded.samples,
      arms,
      repeats: settings.repeats,
      seed: settings.seed,
      concurrency: settings.concurrency,
      readyTimeoutS: settings.memory_ready_timeout_s,
      memoryTimeoutS: settings.memory_timeout_s,
      ...(settings.max_failures === undefined ? {} : { maxFailures: settings.max_failures }),
      store: folder,
      clock: host.clock,
      versions: { heams: VERSION, node: process.version },
      stop,
      signal,
      onPlan: (plan) => options.onPlan?.({ ...plan, assembly: made, budget, runId: note.run_id }),
      onRecord: async (record) => {
        // A failed job keeps its replies: when it is tried again, it pays for what failed alone.
        if (record.status === 'done') await journal.forget(record.key);
        options.onRecord?.(record);
      },
    });
    complete = !options.experiments && outcome.resumed + outcome.done === outcome.planned;
    // A spent budget or a refused key is how a run may end; an error is not.
    if (outcome.stopped?.reason === 'error') throw outcome.stopped.error;
    return { ...outcome, runId: note.run_id, outputDir };
  } finally {
    await assembly?.close();
    await journal.close(complete);
    await folder.close();
  }
}
