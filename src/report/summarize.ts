import { saltOf } from '../contracts/call.ts';
import type { Reporter } from '../contracts/reporter.ts';
import { HeamsError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { SampleRecord } from '../schema/record.ts';
import { RecordIndex } from '../store/record-index.ts';
import { type ExperimentFolder, listExperiments, readRecords } from '../store/records.ts';

/** Reporters by benchmark name. */
export type Reporters = ReadonlyMap<string, Reporter>;

export interface Summary<M = unknown> {
  experiment: ExperimentFolder;
  reporter: Reporter<M>;
  metrics: M;
}

export interface Summaries {
  summaries: Summary[];
  /** Experiments that have no record yet. */
  empty: ExperimentFolder[];
}

export interface SummarizeOptions {
  resultsDir: string;
  reporters: Reporters;
  /** Names of experiments; all of them unless told. */
  experiments?: readonly string[];
  /** Secrets are struck out of the texts that the metrics quote. */
  mask?: boolean;
}

function reporterFor(benchmark: string, reporters: Reporters): Reporter {
  const reporter = reporters.get(benchmark);
  if (reporter) return reporter;
  const meant = nearest(benchmark, reporters.keys());
  throw new HeamsError('these records are of a benchmark that this version cannot report on', {
    code: 'report_unknown_benchmark',
    expected: [...reporters.keys()].join(', '),
    found: JSON.stringify(benchmark),
    ...(meant === undefined ? {} : { hint: `did an edit turn "${meant}" into this?` }),
  });
}

/** Streams the records of one experiment into metrics; nothing when there is no record. */
async function summarizeRecords(records: AsyncIterable<SampleRecord>, reporters: Reporters) {
  let started: { reporter: Reporter; accumulator: ReturnType<Reporter['accumulate']> } | undefined;
  for await (const record of records) {
    if (!started) {
      const reporter = reporterFor(record.benchmark, reporters);
      started = { reporter, accumulator: reporter.accumulate() };
    }
    started.accumulator.add(record);
  }
  return started && { reporter: started.reporter, metrics: started.accumulator.result() };
}

/** The same error with the file it is about, where it does not say one. */
export function inFile(thrown: unknown, file: string): unknown {
  if (!(thrown instanceof HeamsError) || thrown.where) return thrown;
  return thrown.at({ file });
}

function noRecords(file: string, which: string): HeamsError {
  return new HeamsError(`${which} no record yet, so there is nothing to report`, {
    code: 'results_no_records',
    where: { file },
    hint: 'run `heams run` with this folder as --output-dir first; a run that was stopped goes on where it was',
  });
}

async function chosen({ resultsDir, experiments }: SummarizeOptions): Promise<ExperimentFolder[]> {
  const all = await listExperiments(resultsDir);
  if (!experiments) return all;
  const names = all.map(({ name }) => name);
  for (const name of experiments) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    throw new HeamsError(`there is no experiment "${name}" in this folder`, {
      code: 'results_unknown_experiment',
      where: { file: resultsDir },
      expected: names.join(', '),
      found: JSON.stringify(name),
      ...(meant === undefined ? {} : { hint: `did you mean "${meant}"?` }),
    });
  }
  return all.filter(({ name }) => experiments.includes(name));
}

/** Reads again the few records that are quoted: what is secret in a text only its record tells. */
async function masked({ reporter, metrics }: Pick<Summary, 'reporter' | 'metrics'>, runsFile: string) {
  const index = await RecordIndex.open(runsFile);
  const recordAt = ({ sample_id, repeat }: { sample_id: string; repeat: number }) =>
    index.get(saltOf(sample_id, repeat));
  return { metrics: await reporter.masked(metrics, recordAt) };
}

/**
 * Metrics of the experiments of a results folder, from their records alone. An experiment that was asked for by name and
 * has no record is an error, and so is a folder where none has one; otherwise the empty ones are named in the result.
 */
export async function summarize(options: SummarizeOptions): Promise<Summaries> {
  const summaries: Summary[] = [];
  const empty: ExperimentFolder[] = [];
  for (const experiment of await chosen(options)) {
    const { runsFile } = experiment;
    const found = await summarizeRecords(readRecords(runsFile), options.reporters).catch((error: unknown) => {
      throw inFile(error, runsFile);
    });
    if (found) summaries.push({ experiment, ...found, ...(options.mask ? await masked(found, runsFile) : {}) });
    else if (options.experiments) throw noRecords(runsFile, 'this experiment has');
    else empty.push(experiment);
  }
  if (summaries.length === 0) throw noRecords(options.resultsDir, 'its experiments have');
  return { summaries, empty };
}

/** Summaries by the reporter that made them, in their order. */
export function byReporter(summaries: readonly Summary[]): Map<Reporter, Summary[]> {
  const groups = new Map<Reporter, Summary[]>();
  for (const summary of summaries) groups.set(summary.reporter, [...(groups.get(summary.reporter) ?? []), summary]);
  return groups;
}
