import { HeamsError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { inFile } from '../../report/summarize.ts';
import {
  type ArmComparison,
  type CiComparison,
  type ComparedMetric,
  type ComparedSide,
  comparedMetrics,
  type Difference,
} from '../../schema/ci-comparison.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { holmAdjusted } from '../../stats/holm.ts';
import { type ExperimentFolder, listExperiments, readRecords } from '../../store/records.ts';
import { OutcomeTable, outcomeOfRecord, type SampleOutcome } from './compare-outcomes.ts';
import { type PairedResult, PairTally } from './compare-pairs.ts';
import type { RawDifference } from './compare-tallies.ts';
import { IdentityTally } from './metrics-identity.ts';
import { gradeOf } from './read-grade.ts';

const BENCHMARK = 'contextual_integrity';
/** The floor arm by its usual name. */
const USUAL_BASELINE = 'no_memory';

/** A results folder: where it is, and what it is called in the result. */
export interface ComparedRun {
  dir: string;
  label: string;
}

export interface CompareOptions {
  /** One run: its arms against one of them. Two: arms of one name, the second run against the first. */
  runs: readonly [ComparedRun] | readonly [ComparedRun, ComparedRun];
  /** The arm of a single run that the others are held against. */
  baseline?: string;
  /** Names of the experiments to compare; all unless told. The baseline need not be among them. */
  experiments?: readonly string[];
  /** Seed of every resampling; the same records and seed give the same result, whatever the order of the records. */
  seed?: string | number;
}

interface Arm {
  run: ComparedRun;
  experiment: ExperimentFolder;
}

function otherBenchmark({ benchmark }: SampleRecord): HeamsError {
  return new HeamsError('these records are of a benchmark that cannot be compared', {
    code: 'compare_other_benchmark',
    expected: BENCHMARK,
    found: JSON.stringify(benchmark),
  });
}

/** Reads an arm's records one at a time, and says at the end which arm it was; nothing where it has no record. */
async function readArm(arm: Arm, take: (record: SampleRecord, outcome: SampleOutcome) => void) {
  const identity = new IdentityTally();
  let records = 0;
  try {
    for await (const record of readRecords(arm.experiment.runsFile)) {
      if (record.benchmark !== BENCHMARK) throw otherBenchmark(record);
      const grade = gradeOf(record);
      identity.addRecord(record);
      if (grade) identity.addGrade(grade);
      take(record, outcomeOfRecord(record, grade));
      records += 1;
    }
  } catch (error) {
    throw inFile(error, arm.experiment.runsFile);
  }
  return records === 0 ? undefined : sideOf(arm, identity, records);
}

function sideOf({ run }: Arm, tally: IdentityTally, records: number): ComparedSide {
  const { identity, primary, helpfulness_thresholds } = tally.result();
  const { experiment, agent, memory, backend, run_ids } = identity;
  const judges = primary.map(({ id }) => id);
  return {
    run: run.label,
    experiment,
    agent,
    memory,
    backend,
    run_ids,
    primary: judges,
    helpfulness_thresholds,
    records,
  };
}

interface LoadedBaseline {
  side: ComparedSide;
  table: OutcomeTable;
}

async function loadBaseline(arm: Arm): Promise<LoadedBaseline | undefined> {
  const table = new OutcomeTable();
  const side = await readArm(arm, (record, outcome) => table.add(record, outcome));
  return side && { side, table };
}

type RawComparison = PairedResult & { baseline: ComparedSide; arm: ComparedSide };

async function compareArm(
  baseline: LoadedBaseline,
  arm: Arm,
  seed: string | number,
): Promise<RawComparison | undefined> {
  const pairs = new PairTally(baseline.table, seed);
  const side = await readArm(arm, (record, outcome) => pairs.add(record, outcome));
  return side && { baseline: baseline.side, arm: side, ...pairs.result() };
}

/** Adjusts the p-values of each metric over the arms compared. */
function adjusted(raw: readonly RawComparison[]): ArmComparison[] {
  const holm = new Map<RawDifference, number>();
  for (const metric of comparedMetrics) {
    const family = raw.map(({ metrics }) => metrics[metric]).filter((difference) => difference.defined);
    for (const [i, p] of holmAdjusted(family.map(({ p }) => p)).entries()) holm.set(family[i] as RawDifference, p);
  }
  const whole = (difference: RawDifference): Difference =>
    difference.defined ? { ...difference, p_holm: holm.get(difference) as number } : difference;
  return raw.map(({ metrics, ...rest }) => ({
    ...rest,
    metrics: Object.fromEntries(comparedMetrics.map((metric) => [metric, whole(metrics[metric])])) as Record<
      ComparedMetric,
      Difference
    >,
  }));
}

function unknownBaseline(name: string, names: readonly string[], run: ComparedRun): HeamsError {
  const meant = nearest(name, names);
  return new HeamsError(`there is no experiment "${name}" to compare with`, {
    code: 'results_unknown_experiment',
    where: { file: run.dir },
    expected: names.join(', '),
    found: JSON.stringify(name),
    ...(meant === undefined ? {} : { hint: `did you mean "${meant}"?` }),
  });
}

const nothing = (message: string, run: ComparedRun, hint: string): HeamsError =>
  new HeamsError(message, { code: 'compare_nothing', where: { file: run.dir }, hint });

type Baseline = NonNullable<CiComparison['baseline']>;

/** The named arm, else `no_memory`, else the first by name. */
function chooseBaseline(names: readonly string[], run: ComparedRun, wanted: string | undefined): Baseline {
  if (wanted !== undefined) {
    if (!names.includes(wanted)) throw unknownBaseline(wanted, names, run);
    return { experiment: wanted, chosen: 'named' };
  }
  if (names.includes(USUAL_BASELINE)) return { experiment: USUAL_BASELINE, chosen: 'no_memory' };
  return { experiment: names[0] as string, chosen: 'first' };
}

const NO_RECORD = 'no record yet';

const wanted = ({ experiments }: CompareOptions, { name }: ExperimentFolder): boolean =>
  experiments === undefined || experiments.includes(name);

async function compareArms(run: ComparedRun, options: CompareOptions): Promise<CiComparison> {
  const experiments = await listExperiments(run.dir);
  const names = experiments.map(({ name }) => name);
  const chosen = chooseBaseline(names, run, options.baseline);
  if (names.length === 1) {
    throw nothing('this run has one arm alone, so there is nothing to compare it with', run, 'name a second run');
  }
  const own = experiments.find(({ name }) => name === chosen.experiment) as ExperimentFolder;
  const baseline = await loadBaseline({ run, experiment: own });
  if (!baseline) {
    throw nothing(
      `the baseline "${chosen.experiment}" has no record yet`,
      run,
      'run it, or choose another with --baseline',
    );
  }
  const raw: RawComparison[] = [];
  const notCompared: CiComparison['not_compared'] = [];
  for (const experiment of experiments) {
    if (experiment === own || !wanted(options, experiment)) continue;
    const compared = await compareArm(baseline, { run, experiment }, options.seed ?? 0);
    if (compared) raw.push(compared);
    else notCompared.push({ run: run.label, experiment: experiment.name, reason: NO_RECORD });
  }
  return { version: 1, kind: 'arms', baseline: chosen, comparisons: adjusted(raw), not_compared: notCompared };
}

async function compareTwoRuns(first: ComparedRun, second: ComparedRun, options: CompareOptions): Promise<CiComparison> {
  const [before, after] = (await Promise.all(
    [first, second].map(async ({ dir }) => (await listExperiments(dir)).filter((each) => wanted(options, each))),
  )) as [ExperimentFolder[], ExperimentFolder[]];
  const raw: RawComparison[] = [];
  const notCompared: CiComparison['not_compared'] = [];
  const skip = (run: ComparedRun, experiment: string, reason: string) =>
    notCompared.push({ run: run.label, experiment, reason });
  for (const experiment of before) {
    if (!after.some(({ name }) => name === experiment.name)) skip(first, experiment.name, 'in the first run alone');
  }
  for (const experiment of after) {
    const { name } = experiment;
    const old = before.find((one) => one.name === name);
    if (!old) {
      skip(second, name, 'in the second run alone');
      continue;
    }
    const baseline = await loadBaseline({ run: first, experiment: old });
    const compared = baseline && (await compareArm(baseline, { run: second, experiment }, options.seed ?? 0));
    if (compared) raw.push(compared);
    else skip(baseline ? second : first, name, NO_RECORD);
  }
  if (raw.length === 0) {
    const hint = 'arms are compared by the name of their experiment; both need records';
    throw nothing('the two runs have no arm of one name to compare', second, hint);
  }
  return { version: 1, kind: 'runs', comparisons: adjusted(raw), not_compared: notCompared };
}

/**
 * Compares arms on the same samples: pairs records by sample id and repeat, and gives each metric's difference with its
 * interval, its bounds over what is unjudged or failed, an exact or sampled test, and that test adjusted over the arms.
 * Streams the records; holds one arm at a time, some tens of bytes a record.
 */
export async function compareRuns(options: CompareOptions): Promise<CiComparison> {
  const [first, second] = options.runs;
  if (!second) return compareArms(first, options);
  if (options.baseline !== undefined) {
    throw new HeamsError('a baseline arm is for the arms of one run; of two runs, the first is the baseline', {
      code: 'compare_baseline_of_two',
      hint: 'leave --baseline out, or name one run',
    });
  }
  return compareTwoRuns(first, second, options);
}
