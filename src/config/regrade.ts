import { basename, resolve } from 'node:path';
import { z } from 'zod';
import type { Benchmark, LoadedSamples, Sample } from '../contracts/benchmark.ts';
import type { BenchmarkPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { nearest } from '../lib/nearest.ts';
import type { Json } from '../schema/json.ts';
import type { Fact, SampleRecord } from '../schema/record.ts';
import { type ExperimentFolder, listExperiments, readRecords } from '../store/records.ts';
import { readRunStatus } from '../store/run-status.ts';
import { composedSettings, type Pace, recordedArm, wrapped } from './recorded-run.ts';
import type { Registry } from './registry.ts';
import type { Arm, Component, Run } from './run.ts';
import { previousConfig } from './written-config.ts';
import { readYamlFile } from './yaml-file.ts';

export interface RegradeInput extends Pace {
  /** The folder of the run whose messages are graded again. */
  resultsDir: string;
  benchmark: Component<BenchmarkPlugin>;
  judgeModelId?: string;
  limit?: number;
  /** Grade what is there of a run that is not finished, in place of refusing it. */
  allowMissing?: boolean;
  registry: Registry;
}

/** What is remembered of a sample of the graded run: enough to tell whether the dataset still has the same one. */
interface Known {
  hash: string;
  /** Where its first record is. */
  runsFile: string;
}

interface Survey {
  samples: Map<string, Known>;
  repeats: number;
  arms: ArmSurvey[];
  /** How many jobs of each experiment have a record, done or failed; experiments without any are in here too. */
  counts: { experiment: ExperimentFolder; records: number }[];
}

interface ArmSurvey extends ExperimentFolder {
  first: SampleRecord;
  /** Whether any item that was stored or recalled names its facts. */
  provenance: boolean;
}

/** The task and what was to be remembered, in whatever order, and the seed: what a message was written for. */
function sampleHash(of: { task: string; cluster: string; facts: readonly Fact[] }): string {
  const facts = of.facts.map(({ id, key, text }) => JSON.stringify([id, key, text])).sort();
  return hashOf([of.task, of.cluster, facts]);
}

const namesFacts = ({ stored = [], reply }: SampleRecord): boolean =>
  [...stored, ...(reply?.recalls ?? []).flatMap((recall) => recall.items)].some((item) => item.fact_ids.length > 0);

/** Reads every record once. Holds some bytes a sample. */
async function survey(resultsDir: string, benchmark: string): Promise<Survey> {
  const found: Survey = { samples: new Map(), repeats: 1, arms: [], counts: [] };
  for (const experiment of await listExperiments(resultsDir)) {
    let arm: ArmSurvey | undefined;
    let records = 0;
    for await (const record of readRecords(experiment.runsFile)) {
      if (record.benchmark !== benchmark) throw otherBenchmark(experiment.runsFile, benchmark, record.benchmark);
      records += 1;
      arm ??= { ...experiment, first: record, provenance: false };
      arm.provenance ||= namesFacts(record);
      found.repeats = Math.max(found.repeats, record.repeat + 1);
      if (!found.samples.has(record.sample_id)) {
        found.samples.set(record.sample_id, { hash: sampleHash(record), runsFile: experiment.runsFile });
      }
    }
    if (arm) found.arms.push(arm);
    found.counts.push({ experiment, records });
  }
  if (found.arms.length > 0) return found;
  throw new HeamsError('the experiments of this folder have no record yet, so there is nothing to grade', {
    code: 'results_no_records',
    where: { file: resultsDir },
  });
}

function otherBenchmark(file: string, expected: string, found: string): HeamsError {
  return new HeamsError('these records are of another benchmark', {
    code: 'grade_other_benchmark',
    where: { file },
    expected,
    found,
    hint: 'name a benchmark file of the same kind',
  });
}

const statusError = {
  code: 'grade_bad_status',
  hint: 'run the same `heams run` again, which writes the file anew, or pass --allow-missing',
};

/**
 * Refuses a run that is not finished. The new run plans what it finds, so a sample without a record, or an experiment
 * without any, would be missing from it without a word: it could be the one that leaks.
 */
async function refuseUnfinished(resultsDir: string, { arms, counts }: Survey, named: readonly string[]): Promise<void> {
  for (const { experiment, records } of counts) {
    const planned = (await readRunStatus(experiment.dir, statusError))?.planned ?? 0;
    if (records < planned) throw unfinished(experiment.runsFile, `${planned} records, as planned`, `${records}`);
  }
  const bare = named.filter((name) => !arms.some((arm) => arm.name === name));
  if (bare.length === 0) return;
  throw unfinished(resultsDir, 'records of every experiment of the run', `none of ${bare.join(', ')}`);
}

function unfinished(file: string, expected: string, found: string): HeamsError {
  return new HeamsError('the run is not finished, so part of it would not be graded', {
    code: 'grade_unfinished_run',
    where: { file },
    expected,
    found,
    hint: 'finish the run first with the same `heams run`, or pass --allow-missing to grade what is there',
  });
}

const writtenSchema = z.looseObject({
  name: z.string(),
  seed: z.int(),
  experiments: z.array(z.looseObject({ name: z.string() })).catch([]),
});

/** Name, seed and experiments of the graded run, from the config that it left; nothing where it left none. */
async function writtenSettings(resultsDir: string): Promise<z.infer<typeof writtenSchema> | undefined> {
  const file = await previousConfig(resultsDir);
  return file === undefined ? undefined : writtenSchema.safeParse((await readYamlFile(file)).data).data;
}

/** Every grade of a run. */
async function* gradesOf(arms: readonly ArmSurvey[]): AsyncGenerator<Json> {
  for (const { runsFile } of arms) {
    for await (const record of readRecords(runsFile)) if (record.status === 'done') yield record.grade;
  }
}

function armOf({ name, runsFile, first, provenance }: ArmSurvey, registry: Registry): Promise<Arm> {
  const { run_id, agent, agent_kind, memory, backend, defence, defence_kind: kind } = first;
  const records = resolve(runsFile);
  return recordedArm(
    {
      name,
      file: records,
      agent: { name: agent, run: { records, run_id, agent_kind } },
      memory: { name: memory, run: { records, run_id, backend, provenance } },
      ...(defence !== undefined && kind !== undefined ? { defence: { name: defence, run: { run_id, kind } } } : {}),
    },
    registry,
  );
}

/**
 * A run that grades the messages of an earlier one again: the same arms, samples and repeats, with recorded replies in
 * place of memories and agents. Samples are built anew from the benchmark's dataset; one that is not the same there is a
 * failed sample (`graded_sample_differs`, `graded_sample_missing`).
 *
 * @throws HeamsError where there is nothing to grade, when none of the samples is in the dataset, and where records are
 * missing that the run had planned (`grade_unfinished_run`), unless `allowMissing` is set.
 */
export async function regradeRun(input: RegradeInput): Promise<Run> {
  const { resultsDir, benchmark, judgeModelId, registry } = input;
  const { plugin } = benchmark;
  const found = await survey(resultsDir, plugin.name);
  const written = await writtenSettings(resultsDir);
  if (input.allowMissing !== true) {
    await refuseUnfinished(resultsDir, found, written?.experiments.map((one) => one.name) ?? []);
  }
  const change = { ...(judgeModelId === undefined ? {} : { judgeModelId }), grades: gradesOf(found.arms) };
  // Which samples there are, the graded run says; a limit of the dataset does not.
  const unlimited = plugin.limited(benchmark.options, Number.POSITIVE_INFINITY);
  const options = plugin.regraded ? await plugin.regraded(unlimited, change) : unlimited;
  const name = written?.name ?? basename(resolve(resultsDir)).replace(/[^A-Za-z0-9._-]/g, '_');
  return {
    file: resultsDir,
    settings: composedSettings(name, { seed: written?.seed ?? 0, repeats: found.repeats }, input),
    benchmark: wrapped({ ...benchmark, options }, (made) => onlyGraded(made, { ...input, known: found.samples })),
    arms: await Promise.all(found.arms.map((arm) => armOf(arm, registry))),
  };
}

interface Graded extends RegradeInput {
  known: ReadonlyMap<string, Known>;
}

/** The benchmark with the samples of the graded run alone, in its dataset's order, that refuses those that differ. */
function onlyGraded(benchmark: Benchmark, graded: Graded): Benchmark {
  const refused = new Map<string, 'graded_sample_differs' | 'graded_sample_missing'>();
  return {
    ...benchmark,
    loadSamples: async (signal) => {
      const loaded = await benchmark.loadSamples(signal);
      const samples = await gradedSamples(loaded.samples, graded);
      for (const { sample, code } of samples) if (code) refused.set(sample.id, code);
      return { ...loaded, samples: samples.map(({ sample }) => sample).slice(0, graded.limit) };
    },
    turns: (sample) => {
      const code = refused.get(sample.id);
      if (code) throw refusal(code, graded.benchmark.file);
      return benchmark.turns(sample);
    },
  };
}

type Sorted = { sample: Sample; code?: 'graded_sample_differs' | 'graded_sample_missing' };

async function gradedSamples(samples: LoadedSamples['samples'], { known, ...graded }: Graded): Promise<Sorted[]> {
  const sorted: Sorted[] = [];
  const left = new Set(known.keys());
  for (const sample of samples) {
    const before = known.get(sample.id);
    if (!before || !left.delete(sample.id)) continue;
    sorted.push(before.hash === sampleHash(sample) ? { sample } : { sample, code: 'graded_sample_differs' });
  }
  if (sorted.length === 0) throw noneKnown(known, samples, graded);
  for await (const sample of recordedSamples(left, known)) sorted.push({ sample, code: 'graded_sample_missing' });
  return sorted;
}

/** What records say of their samples: enough for failed records, and too little to grade by. Each file is read once. */
async function* recordedSamples(ids: ReadonlySet<string>, known: Graded['known']): AsyncGenerator<Sample> {
  const left = new Set(ids);
  for (const runsFile of new Set([...left].map((id) => known.get(id)?.runsFile ?? ''))) {
    for await (const { sample_id: id, cluster, task, facts, tags, to_judge: toJudge } of readRecords(runsFile)) {
      if (!left.delete(id)) continue;
      const hash = known.get(id)?.hash ?? '';
      yield { id, cluster, hash, task, facts, tags, ...(toJudge ? { toJudge } : {}), data: undefined };
    }
  }
}

function refusal(code: NonNullable<Sorted['code']>, file: string): HeamsError {
  const missing = code === 'graded_sample_missing';
  return new HeamsError(
    missing
      ? 'the dataset of this benchmark has no such sample'
      : 'the sample is not what it was: its task, facts (those of a haystack too) or seed differ from those that the message was written for',
    { code, where: { file } },
  );
}

function noneKnown(known: Graded['known'], samples: readonly Sample[], graded: Omit<Graded, 'known'>): HeamsError {
  const [first = ''] = known.keys();
  const meant = nearest(
    first,
    samples.map(({ id }) => id),
  );
  return new HeamsError('none of the samples of this run is in the dataset of the benchmark', {
    code: 'grade_no_sample_known',
    where: { file: graded.benchmark.file },
    expected: `samples such as "${first}", as in ${graded.resultsDir}`,
    found: `${samples.length} samples with other ids${meant ? `, "${meant}" among them` : ''}`,
    hint: 'name a benchmark file with the dataset that the run was made with',
  });
}
