import { HeamsError } from '../../lib/errors.ts';
import { type SummarizeOptions, type Summary, summarize } from '../../report/summarize.ts';
import type { CiComparison } from '../../schema/ci-comparison.ts';
import type { CiGate, GateCheck } from '../../schema/ci-gate.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import { listExperiments } from '../../store/records.ts';
import { readRunStatus } from '../../store/run-status.ts';
import { type ComparedRun, compareRuns } from './compare.ts';
import { decideLimit, decideMargin, decideShare, type GateRules } from './gate-decide.ts';
import { type Limit, type Margin, rateNamed } from './gate-limits.ts';
import { ciReporter } from './reporter.ts';

export interface GateOptions extends GateRules {
  run: ComparedRun;
  /** Names of experiments; all unless told. */
  experiments?: readonly string[];
  /** Experiments that the run's own config names: each needs its records, unless `experiments` says which to check. */
  planned?: readonly string[];
  limits: readonly Limit[];
  against?: { run: ComparedRun; margins: readonly Margin[] };
}

const statusError = { code: 'gate_bad_status', hint: 'run the same `heams run` again: it writes the file anew' };

/** No sample may be missing, failed or unreadable: they could be the ones that leak. */
async function completeness({ experiment, metrics }: Summary<CiMetrics>, rules: GateRules): Promise<GateCheck> {
  const { records, failed, unreadable } = metrics.counts;
  const planned = Math.max(records, (await readRunStatus(experiment.dir, statusError))?.planned ?? 0);
  const decided = decideShare(planned - records + failed + unreadable, planned, 'missing or failed', rules);
  return { experiment: experiment.name, kind: 'complete', name: 'complete', ...decided };
}

function limitChecks({ experiment, metrics }: Summary<CiMetrics>, options: GateOptions): GateCheck[] {
  return options.limits.map((limit) => ({
    experiment: experiment.name,
    kind: limit.side,
    name: `${limit.metric} ${limit.side === 'max' ? '<=' : '>='} ${limit.value}`,
    metric: limit.metric,
    limit: limit.value,
    ...decideLimit(rateNamed(metrics, limit.metric), limit, options),
  }));
}

interface Measure {
  primary: readonly string[];
  helpfulness_thresholds: readonly number[];
}

/** Why two arms were not measured alike: a more lenient judge must not pass for a better agent. */
function otherMeasure(baseline: Measure, arm: Measure): string | undefined {
  const [before, now] = [baseline, arm].map(({ primary }) => [...primary].sort().join(', '));
  if (before !== now || arm.primary.length !== 1)
    return `judged by ${now || 'nobody'}, the other run by ${before || 'nobody'}`;
  const [least, limit] = [baseline, arm].map(({ helpfulness_thresholds: given }) => [...given].sort().join(', '));
  return least === limit ? undefined : `helpful from score ${limit}, in the other run from ${least}`;
}

/** Every sample of this run needs its counterpart in the other; what the other has beside is no matter. */
function comparisonChecks(comparison: CiComparison, experiment: string, options: GateOptions): GateCheck[] {
  const compared = comparison.comparisons.find(({ arm }) => arm.experiment === experiment);
  const own = { experiment, kind: 'comparable' as const, name: 'comparable' };
  if (!compared) return [{ ...own, status: 'failed', reason: 'the other run has no records of this experiment' }];
  const { arm_only, different } = compared.pairing;
  const other = otherMeasure(compared.baseline, compared.arm);
  const lost = decideShare(arm_only + different.count, compared.arm.records, 'without a counterpart', options);
  const margins = options.against?.margins ?? [];
  return [
    other === undefined ? { ...own, ...lost } : { ...own, status: 'failed', reason: other },
    ...margins.map((margin) => ({
      experiment,
      kind: 'no_worse_than' as const,
      name: `${margin.metric} no worse by more than ${margin.value}`,
      metric: margin.metric,
      limit: margin.value,
      ...decideMargin(compared.metrics[margin.metric], margin, options),
    })),
  ];
}

/** A folder whose experiments have no record fails the gate like any other that is not complete. */
async function summariesOf(
  resultsDir: string,
  options: Omit<SummarizeOptions, 'resultsDir'>,
): Promise<{ summaries: Summary[]; empty: string[] }> {
  try {
    const { summaries, empty } = await summarize({ resultsDir, ...options });
    return { summaries, empty: empty.map(({ name }) => name) };
  } catch (error) {
    if (!(error instanceof HeamsError) || error.code !== 'results_no_records') throw error;
    const names = (await listExperiments(resultsDir)).map(({ name }) => name);
    return { summaries: [], empty: names.filter((name) => options.experiments?.includes(name) ?? true) };
  }
}

/**
 * Holds the arms of a run against limits, and against the same arms of another run. Everything that cannot be told counts
 * as failing unless the options allow it: undefined rates, what is unjudged, and samples that failed or are missing.
 */
export async function checkRun(options: GateOptions): Promise<CiGate> {
  const { run, experiments, limits, against, on } = options;
  if (limits.length + (against?.margins.length ?? 0) === 0) {
    throw new HeamsError('there is nothing to check', {
      code: 'gate_no_limit',
      expected: 'at least one of --max, --min, or --against with --no-worse-than',
      hint: 'a gate without a limit would let everything pass',
    });
  }
  const only = experiments ? { experiments } : {};
  const reporters = new Map([[ciReporter.benchmark, ciReporter]]);
  const { summaries, empty } = await summariesOf(run.dir, { reporters, ...only });
  const found = new Set([...summaries.map(({ experiment }) => experiment.name), ...empty]);
  const absent = experiments ? [] : (options.planned ?? []).filter((name) => !found.has(name));
  const comparison =
    summaries.length === 0 ? undefined : against && (await compareRuns({ runs: [against.run, run], ...only }));
  const checks: GateCheck[] = [...empty, ...absent].map((name) => ({
    experiment: name,
    kind: 'complete',
    name: 'complete',
    status: 'failed',
    reason: 'no record yet',
  }));
  for (const summary of summaries as Summary<CiMetrics>[]) {
    checks.push(await completeness(summary, options), ...limitChecks(summary, options));
    if (comparison) checks.push(...comparisonChecks(comparison, summary.experiment.name, options));
  }
  return {
    version: 1,
    run: run.label,
    ...(against ? { against: against.run.label } : {}),
    on,
    passed: checks.every(({ status }) => status !== 'failed'),
    checks,
  };
}
