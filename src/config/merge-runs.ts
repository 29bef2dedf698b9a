import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HeamsError } from '../lib/errors.ts';
import { createBudget } from '../models/with-budget.ts';
import { type Job, planJobs } from '../run/plan-jobs.ts';
import type { RunStatus } from '../schema/record.ts';
import type { WrittenNote } from '../schema/run-file.ts';
import { type Place, readPlace } from '../store/place.ts';
import { placedRecords } from '../store/record-index.ts';
import { parseRecord } from '../store/records.ts';
import { RunFolder } from '../store/run-folder.ts';
import { armIdentity, assemble, type Host } from './assemble.ts';
import { identityDiff, runIdentity } from './identity.ts';
import { loadRun } from './load-run.ts';
import { builtinRegistry, type Registry } from './registry.ts';
import type { Run } from './run.ts';
import { previousConfig, writeRunConfigs } from './written-config.ts';

export interface MergeInput {
  /** Absolute; where a job is done in two of them, the first one's record is kept. */
  dirs: readonly string[];
  outputDir: string;
  host: Host;
  registry?: Registry;
}

export interface MergedArm {
  experiment: string;
  planned: number;
  done: number;
  failed: number;
  missing: { sample_id: string; repeat: number }[];
}

export interface MergedRun {
  runId: string;
  /** Records left out, since their job has another one that is kept. */
  doubles: number;
  arms: MergedArm[];
}

interface Part {
  dir: string;
  run: Run;
  note: WrittenNote;
}

async function partOf(dir: string, registry: Registry): Promise<Part> {
  const file = (await stat(dir).catch(() => undefined))?.isDirectory() ? await previousConfig(dir) : undefined;
  const run = file === undefined ? undefined : await loadRun(file, registry);
  if (run?.settings.heams) return { dir, run, note: run.settings.heams };
  throw new HeamsError('this is no folder of a run', {
    code: 'merge_no_run',
    where: { file: dir },
    expected: 'a folder that `heams run --shard` wrote, with its run_config.<run_id>.yaml',
    found: file === undefined ? 'none' : 'a config without the note of a run',
  });
}

function refuseOthers(first: Part, others: readonly Part[]): void {
  for (const other of others) {
    if (other.note.fingerprint === first.note.fingerprint) continue;
    const before = runIdentity(first.run, first.note.dataset);
    const changes = identityDiff(before, runIdentity(other.run, other.note.dataset));
    throw new HeamsError('these folders hold runs of different configurations', {
      code: 'merge_other_config',
      where: { file: other.dir },
      expected: `the configuration of ${first.dir}`,
      found: changes.length > 0 ? `\n    ${changes.join('\n    ')}` : 'another fingerprint',
    });
  }
}

interface Kept {
  file: string;
  place: Place;
  status: 'done' | 'failed';
}

/** Where the record of each of an arm's jobs stands: a done one before a failed one, else the first that was met. */
async function gather(
  parts: readonly Part[],
  experiment: string,
): Promise<{ kept: Map<string, Kept>; doubles: number }> {
  const kept = new Map<string, Kept>();
  let doubles = 0;
  for (const { dir } of parts) {
    const file = join(dir, experiment, 'runs.jsonl');
    if (!(await stat(file).catch(() => undefined))) continue;
    for await (const { record, place } of placedRecords(file)) {
      const before = kept.get(record.key);
      // A failure that was tried again in the same folder is no double.
      if (before && before.file !== file) doubles += 1;
      const again = before?.file === file || (before?.status === 'failed' && record.status === 'done');
      if (!before || again) kept.set(record.key, { file, place, status: record.status });
    }
  }
  return { kept, doubles };
}

async function planOf({ run }: Part, host: Host): Promise<Job[]> {
  const signal = new AbortController().signal;
  const assembly = await assemble({ ...run, arms: [] }, host, { budget: createBudget({}), signal });
  try {
    const { benchmarkIdentity: benchmark, loaded } = assembly;
    const arms = run.arms.map((arm) => ({ name: arm.name, identity: armIdentity(arm) }));
    const { repeats, seed } = run.settings;
    return planJobs({ benchmark, arms, samples: loaded.samples, repeats, seed });
  } finally {
    await assembly.close();
  }
}

/** Appends that share one sync. */
const BATCH = 256;

async function writeArm(folder: RunFolder, jobs: readonly Job[], kept: ReadonlyMap<string, Kept>): Promise<void> {
  const found = jobs.flatMap((job) => kept.get(job.key) ?? []);
  for (let i = 0; i < found.length; i += BATCH) {
    const records = [];
    for (const { file, place } of found.slice(i, i + BATCH)) {
      records.push(parseRecord(await readPlace(file, place), file, place.line));
    }
    await Promise.all(records.map((record) => folder.append(record)));
  }
}

function refuseUnplanned(own: readonly Job[], kept: ReadonlyMap<string, Kept>): void {
  const planned = new Set(own.map((job) => job.key));
  for (const [key, { file, place }] of kept) {
    if (planned.has(key)) continue;
    throw new HeamsError('this record is of no sample in the plan', {
      code: 'merge_unplanned',
      where: { file, line: place.line, column: 1 },
      expected: 'parts of one run, with the same --limit',
      found: `job ${key}`,
      hint: 'name the folder that was run with the largest limit first',
    });
  }
}

/**
 * Puts the folders of one run together in a new one, each arm in the order of the plan: the records are those of a run
 * in one piece, but for ids and times. What is missing is told, and the new folder can be resumed to fill it.
 *
 * @throws HeamsError for folders of different configurations, and for an output folder that holds a run already.
 */
export async function mergeRuns({ dirs, outputDir, host, registry = builtinRegistry }: MergeInput): Promise<MergedRun> {
  const parts: Part[] = [];
  for (const dir of dirs) parts.push(await partOf(dir, registry));
  const [first] = parts;
  if (!first) throw new Error('there is nothing to merge');
  refuseOthers(first, parts);
  const jobs = await planOf(first, host);
  const startedAt = new Date(host.clock.now()).toISOString();
  const folder = await RunFolder.open(outputDir, startedAt);
  try {
    if (await previousConfig(outputDir)) {
      throw new HeamsError('the output folder holds a run already', {
        code: 'merge_output_used',
        where: { file: outputDir },
        hint: 'choose another --output-dir',
      });
    }
    const { shard: _, ...note } = first.note;
    const merged: MergedRun = { runId: note.run_id, doubles: 0, arms: [] };
    const names = first.run.arms.map((arm) => arm.name);
    const gathered = new Map<string, Map<string, Kept>>();
    for (const name of names) {
      const { kept, doubles } = await gather(parts, name);
      refuseUnplanned(
        jobs.filter((job) => job.experiment === name),
        kept,
      );
      gathered.set(name, kept);
      merged.doubles += doubles;
    }
    await writeRunConfigs(first.run, names, note, folder);
    for (const [experiment, kept] of gathered) {
      const own = jobs.filter((job) => job.experiment === experiment);
      await writeArm(folder, own, kept);
      const arm = countsOf(experiment, own, kept);
      await folder.writeStatus(statusOf(arm, note, { startedAt, host }));
      merged.arms.push(arm);
    }
    return merged;
  } finally {
    await folder.close();
  }
}

function countsOf(experiment: string, own: readonly Job[], kept: ReadonlyMap<string, Kept>): MergedArm {
  const failed = [...kept.values()].filter(({ status }) => status === 'failed').length;
  const missing = own
    .filter((job) => !kept.has(job.key))
    .map(({ sample, repeat }) => ({ sample_id: sample.id, repeat }));
  return { experiment, planned: own.length, done: kept.size - failed, failed, missing };
}

function statusOf(
  arm: MergedArm,
  note: WrittenNote,
  { startedAt, host }: { startedAt: string; host: Host },
): RunStatus {
  const { experiment, planned, done, failed, missing } = arm;
  const ended = failed > 0 ? 'done_with_failures' : 'done';
  return {
    version: 1,
    run_id: note.run_id,
    experiment,
    state: missing.length > 0 ? 'stopped' : ended,
    ...(missing.length > 0 ? { stop_message: 'parts of the run are missing in what was merged' } : {}),
    planned,
    done,
    failed,
    fingerprint: note.fingerprint,
    started_at: startedAt,
    updated_at: new Date(host.clock.now()).toISOString(),
  };
}
