import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { assemble } from '../config/assemble.ts';
import { checkRun } from '../config/check-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import type { Run } from '../config/run.ts';
import { resumableNote } from '../config/written-config.ts';
import { safeTerminal } from '../lib/escape.ts';
import { createBudget } from '../models/with-budget.ts';
import { plural } from '../report/format.ts';
import { pendingJobs, planJobs } from '../run/plan-jobs.ts';
import { type Shard, shardOf } from '../run/shard.ts';
import { readFinished } from '../store/records.ts';
import { checkOutputFolder } from '../store/run-folder.ts';
import { hostOf } from './host.ts';
import { exit, type Io } from './io.ts';
import { type PlannedModel, plannedCalls } from './planned-calls.ts';
import { poolNotes } from './pool-notes.ts';
import { textTable } from './table.ts';

export interface DryRunOptions {
  experiments?: string[];
  shard?: Shard;
  /** Absolute. */
  outputDir: string;
  json?: boolean;
}

interface Plan {
  /** Samples to run, and those that the output folder has done already. */
  jobs: number;
  done: number;
  samples: number;
  arms: string[];
  models: PlannedModel[];
  warnings: string[];
}

/** Everything that a run would refuse before it starts, and that can be told without starting it. */
async function checkStart(run: Run, outputDir: string, io: Io): Promise<void> {
  await checkRun(run, io.env);
  await checkOutputFolder(outputDir);
}

/** Keys of the jobs that an output folder has done, by arm. */
async function doneIn(outputDir: string, arms: readonly { name: string }[]): Promise<Map<string, ReadonlySet<string>>> {
  const done = new Map<string, ReadonlySet<string>>();
  for (const { name } of arms) done.set(name, (await readFinished(join(outputDir, name, 'runs.jsonl'))).done);
  return done;
}

/**
 * `heams run --dry-run`: what a run would refuse is refused here too; else what is left to do of the plan, what it would
 * call, and what that would cost. Nothing is started and nothing stays written.
 */
export async function dryRun(run: Run, options: DryRunOptions, io: Io): Promise<number> {
  const { experiments, outputDir } = options;
  const selected: Run = { ...run, arms: run.arms.filter((arm) => experiments?.includes(arm.name) ?? true) };
  await checkStart(selected, outputDir, io);
  const signal = new AbortController().signal;
  const assembly = await assemble(selected, hostOf(io), { budget: createBudget({}), signal });
  try {
    const { arms, benchmarkIdentity, loaded } = assembly;
    const { source } = loaded;
    const samples = options.shard ? shardOf(loaded.samples, options.shard) : loaded.samples;
    // A folder of another configuration is refused, as the run would refuse it.
    if (await stat(outputDir).catch(() => undefined)) await resumableNote(outputDir, run, source, builtinRegistry);
    const { repeats, seed } = run.settings;
    const jobs = planJobs({ benchmark: benchmarkIdentity, arms, samples, repeats, seed });
    const pending = pendingJobs(jobs, await doneIn(outputDir, arms));
    const plan: Plan = {
      jobs: pending.length,
      done: jobs.length - pending.length,
      samples: samples.length,
      arms: arms.map(({ name }) => name),
      models: plannedCalls(selected, assembly, pending),
      warnings: poolNotes(arms, samples),
    };
    report(plan, options, io);
    return exit.done;
  } finally {
    await assembly.close();
  }
}

function report(plan: Plan, { json, outputDir }: DryRunOptions, io: Io): void {
  const calls = plan.models.reduce((sum, model) => sum + model.calls, 0);
  const priced = plan.models.filter((model) => model.cost_usd !== undefined);
  const cost = priced.reduce((sum, model) => sum + (model.cost_usd ?? 0), 0);
  const complete = priced.length === plan.models.length;
  if (json) {
    io.out(JSON.stringify({ ...plan, calls, estimated_cost_usd: cost, all_models_priced: complete }));
    return;
  }
  for (const warning of plan.warnings) io.note(safeTerminal(`Note: ${warning}`));
  const done = plan.done === 0 ? '' : `; ${plan.done} more are done already in ${relative(io.cwd, outputDir) || '.'}`;
  io.out(
    `Plan: ${plural(plan.jobs, 'sample')} to run (${plural(plan.samples, 'sample')}, ${plural(plan.arms.length, 'arm')}: ${plan.arms.join(', ')})${done}`,
  );
  const rows = plan.models.map((model) => [
    model.role,
    model.model_id,
    String(model.calls),
    String(model.input_tokens),
    String(model.output_tokens),
    model.cost_usd === undefined ? 'not known' : `$${model.cost_usd.toFixed(4)}`,
  ]);
  const head = ['role', 'model', 'calls', 'tokens in (est.)', 'tokens out (est.)', 'cost (est.)'];
  for (const line of textTable([head, ...rows], new Set([2, 3, 4, 5]))) io.out(line);
  io.out(
    `${plural(calls, 'call')}, about $${cost.toFixed(4)}${complete ? '' : ' plus what has no known price'}. Nothing was started.`,
  );
}
