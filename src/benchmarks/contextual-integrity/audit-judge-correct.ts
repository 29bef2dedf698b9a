import { HeamsError } from '../../lib/errors.ts';
import { seededRandom } from '../../lib/random.ts';
import { ciGradeSchema, type JudgeInfo, type Side, sides } from '../../schema/ci-grade.ts';
import type { Correction } from '../../schema/judge-audit.ts';
import type { SampleRecord } from '../../schema/record.ts';
import type { ClusterSums } from '../../stats/bootstrap.ts';
import { effectiveShare } from '../../stats/effective-size.ts';
import { clusteredRate } from '../../stats/rate.ts';
import { roganGladen } from '../../stats/rogan-gladen.ts';
import type { AuditOutcome } from './audit-judge.ts';
import { clustersOf } from './audit-judge-summary.ts';

interface Experiment {
  name: string;
  records: AsyncIterable<SampleRecord>;
}

/** Verdicts of one judge about one side, by cluster of samples. */
class SideCount {
  readonly clusters = new Map<string, [yes: number, judged: number]>();
  unjudged = 0;

  add(cluster: string, says: 'yes' | 'no' | 'open'): void {
    if (says === 'open') {
      this.unjudged += 1;
      return;
    }
    const sums = this.clusters.get(cluster) ?? [0, 0];
    this.clusters.set(cluster, sums);
    if (says === 'yes') sums[0] += 1;
    sums[1] += 1;
  }

  /** In the order of the clusters' names, so that the order of records does not matter. */
  get sums(): ClusterSums {
    const inOrder = [...this.clusters].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sums]) => sums);
    return {
      numerators: Float64Array.from(inOrder, ([yes]) => yes),
      denominators: Float64Array.from(inOrder, ([, judged]) => judged),
    };
  }
}

/** Counts by experiment (`undefined`: all of them together), judge and side. */
export class RunCounts {
  readonly experiments: readonly string[];
  /** Judges of the run, each with what its questions were made of. */
  readonly judgesSeen = new Map<string, string | undefined>();
  private readonly counts = new Map<string, SideCount>();

  constructor(experiments: readonly string[]) {
    this.experiments = experiments;
  }

  of(experiment: string | undefined, judge: string, side: Side): SideCount {
    const name = JSON.stringify([experiment ?? null, judge, side]);
    const known = this.counts.get(name) ?? new SideCount();
    this.counts.set(name, known);
    return known;
  }

  add(record: SampleRecord, judges: readonly string[]): void {
    if (record.status === 'failed') return;
    const parsed = ciGradeSchema.safeParse(record.grade);
    // A grade that cannot be read is counted by the reports; here it has no verdict.
    if (!parsed.success) return;
    for (const { id, identity } of parsed.data.judges) this.judgesSeen.set(id, identity);
    for (const [side, items] of [
      ['secret', parsed.data.secrets],
      ['field', parsed.data.fields],
    ] as const) {
      for (const { verdicts } of items) {
        for (const judge of judges) {
          const verdict = verdicts[judge];
          if (!verdict) continue;
          const says = verdict.status === 'judged' ? (verdict.value ? 'yes' : 'no') : 'open';
          this.of(undefined, judge, side).add(record.cluster, says);
          this.of(record.experiment, judge, side).add(record.cluster, says);
        }
      }
    }
  }
}

export interface CountOptions {
  /** The one that matters most first. */
  judges: readonly JudgeInfo[];
  experiments: readonly Experiment[];
  /** The results folder, for errors. */
  folder: string;
}

/**
 * What judges said about the items of a run. Read before an audit begins, so that nothing is spent on a run that it
 * cannot correct.
 *
 * @throws HeamsError `audit_other_judge` where the first judge has no verdict in the run, or a judge model was asked
 * other questions there: these error rates say nothing about those verdicts.
 */
export async function countRun({ judges, experiments, folder }: CountOptions): Promise<RunCounts> {
  const counts = new RunCounts(experiments.map(({ name }) => name));
  const ids = judges.map(({ id }) => id);
  for (const { records } of experiments) for await (const record of records) counts.add(record, ids);
  const { judgesSeen } = counts;
  const [first = ''] = ids;
  if (!judgesSeen.has(first)) {
    throw otherJudge(folder, {
      message: `the run was not graded by the judge of this audit, ${first}`,
      expected: `verdicts by ${first}`,
      found: [...judgesSeen.keys()].join(', ') || 'no verdict at all',
    });
  }
  for (const { id, identity } of judges) {
    const there = judgesSeen.get(id);
    if (identity === undefined || there === undefined || there === identity) continue;
    throw otherJudge(folder, {
      message: `${id} graded the run with other prompts or settings than those of this audit`,
      expected: identity,
      found: there,
    });
  }
  return counts;
}

function otherJudge(
  folder: string,
  { message, expected, found }: { message: string; expected: string; found: string },
): HeamsError {
  return new HeamsError(message, {
    code: 'audit_other_judge',
    where: { file: folder },
    expected,
    found,
    hint: "audit the run's own judge: give the run_config.<run_id>.yaml of its folder as --benchmark",
  });
}

/**
 * The leakage (and coverage) of a run over its items, corrected for what the audit found out about the judge (Rogan and
 * Gladen), for all experiments together and for each. Each of the three shares goes in with its effective sample size,
 * as items of one cluster share their luck. Judges that have judged nothing in the run are left out.
 */
export function corrections(
  outcomes: readonly AuditOutcome[],
  judges: readonly string[],
  counts: RunCounts,
): Correction[] {
  const scopes = [undefined, ...counts.experiments];
  return judges
    .filter((judge) => counts.judgesSeen.has(judge))
    .flatMap((judge) =>
      sides.flatMap((side) =>
        scopes.map((experiment) =>
          correction(outcomes, { judge, side, experiment }, counts.of(experiment, judge, side)),
        ),
      ),
    );
}

function correction(
  outcomes: readonly AuditOutcome[],
  { judge, side, experiment }: { judge: string; side: Side; experiment: string | undefined },
  count: SideCount,
): Correction {
  const { sums, unjudged } = count;
  const yes = sums.numerators.reduce((a, b) => a + b, 0);
  const judged = sums.denominators.reduce((a, b) => a + b, 0);
  const all = judged + unjudged;
  const apparent = clusteredRate({
    sums,
    unjudged,
    failed: 0,
    bounds: all === 0 ? { low: 0, high: 1 } : { low: yes / all, high: (yes + unjudged) / all },
    reason: `no ${side} was judged`,
    random: seededRandom('judge_audit_run', judge, side, experiment ?? ''),
  });
  const corrected = roganGladen({
    apparent: effectiveShare(sums),
    sensitivity: effectiveShare(clustersOf(outcomes, judge, side, true)),
    specificity: effectiveShare(clustersOf(outcomes, judge, side, false)),
  });
  return { judge, side, ...(experiment === undefined ? {} : { experiment }), apparent, corrected };
}
