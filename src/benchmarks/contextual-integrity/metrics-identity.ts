import { HeamsError } from '../../lib/errors.ts';
import type { CiGrade, JudgeInfo } from '../../schema/ci-grade.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';

/** More distinct names than this say nothing to a reader. */
const MAX_NAMES = 20;

/** The first names in order, whatever order they come in. */
class Names {
  private readonly seen = new Set<string>();

  add(name: string): void {
    if (this.seen.has(name)) return;
    this.seen.add(name);
    const last = this.sorted[MAX_NAMES];
    if (last !== undefined) this.seen.delete(last);
  }

  merge(other: Names): void {
    for (const name of other.seen) this.add(name);
  }

  get sorted(): string[] {
    return [...this.seen].sort();
  }
}

const armKeys = [
  'benchmark',
  'experiment',
  'agent',
  'agent_kind',
  'memory',
  'backend',
  'defence',
  'defence_kind',
] as const;
type Arm = Pick<SampleRecord, (typeof armKeys)[number]>;

/** Which arm the records are of, and who judged them. Records of two arms in one file are an error. */
export class IdentityTally {
  private arm: Arm | undefined;
  private readonly runIds = new Names();
  private readonly versions = new Names();
  private readonly models = new Names();
  private readonly judges = new Map<string, JudgeInfo>();
  private readonly primary = new Set<string>();
  private readonly thresholds = new Set<number>();

  addRecord(record: SampleRecord): void {
    this.addArm(record, `the record of sample ${JSON.stringify(record.sample_id)}`);
    this.runIds.add(record.run_id);
    this.versions.add(record.versions.heams);
    if (record.reply?.model_version !== undefined) this.models.add(record.reply.model_version);
  }

  addGrade(grade: CiGrade): void {
    for (const judge of grade.judges) if (this.judges.size < MAX_NAMES) this.judges.set(judge.id, judge);
    this.primary.add(grade.primary);
    this.thresholds.add(grade.helpfulness_threshold);
  }

  private addArm(arm: Arm, where: string): void {
    const { benchmark, experiment, agent, agent_kind, memory, backend, defence, defence_kind } = arm;
    const defended = {
      ...(defence === undefined ? {} : { defence }),
      ...(defence_kind === undefined ? {} : { defence_kind }),
    };
    this.arm ??= { benchmark, experiment, agent, agent_kind, memory, backend, ...defended };
    for (const key of armKeys) if (arm[key] !== this.arm[key]) throw this.mixed(key, arm, where);
  }

  merge(other: IdentityTally): void {
    if (other.arm) this.addArm(other.arm, 'the records to merge');
    for (const tally of ['runIds', 'versions', 'models'] as const) this[tally].merge(other[tally]);
    for (const judge of other.judges.values()) if (this.judges.size < MAX_NAMES) this.judges.set(judge.id, judge);
    for (const id of other.primary) this.primary.add(id);
    for (const threshold of other.thresholds) this.thresholds.add(threshold);
  }

  private mixed(key: (typeof armKeys)[number], arm: Arm, where: string): HeamsError {
    return new HeamsError(`records of two arms in one experiment: they differ in "${key}"`, {
      code: 'records_mixed',
      expected: JSON.stringify(this.arm?.[key]) ?? 'none',
      found: `${JSON.stringify(arm[key]) ?? 'none'} in ${where}`,
      hint: 'give each arm an experiment of its own',
    });
  }

  /** Throws when there was no record at all: there is then nothing to report. */
  result(): Pick<CiMetrics, 'identity' | 'judges' | 'primary' | 'helpfulness_thresholds'> {
    if (!this.arm) throw new HeamsError('there is no record to compute metrics of', { code: 'results_no_records' });
    const judges = [...this.judges.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return {
      identity: {
        ...this.arm,
        run_ids: this.runIds.sorted,
        heams_versions: this.versions.sorted,
        agent_models: this.models.sorted,
      },
      judges,
      primary: judges.filter(({ id }) => this.primary.has(id)),
      helpfulness_thresholds: [...this.thresholds].sort(),
    };
  }
}
