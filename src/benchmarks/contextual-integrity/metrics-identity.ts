import { HeamsError } from '../../lib/errors.ts';
import type { CiGrade, JudgeInfo } from '../../schema/ci-grade.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';

/** More distinct names than this say nothing to a reader. */
const MAX_NAMES = 20;

class Names {
  private readonly seen = new Set<string>();

  add(name: string): void {
    if (this.seen.size < MAX_NAMES) this.seen.add(name);
  }

  get sorted(): string[] {
    return [...this.seen].sort();
  }
}

type Arm = Pick<SampleRecord, 'benchmark' | 'experiment' | 'agent' | 'memory' | 'backend'>;
const armKeys = ['benchmark', 'experiment', 'agent', 'memory', 'backend'] as const;

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
    this.arm ??= { ...record };
    for (const key of armKeys) {
      if (record[key] !== this.arm[key]) throw this.mixed(key, record);
    }
    this.runIds.add(record.run_id);
    this.versions.add(record.versions.heams);
    if (record.reply?.model_version !== undefined) this.models.add(record.reply.model_version);
  }

  addGrade(grade: CiGrade): void {
    for (const judge of grade.judges) if (this.judges.size < MAX_NAMES) this.judges.set(judge.id, judge);
    this.primary.add(grade.primary);
    this.thresholds.add(grade.helpfulness_threshold);
  }

  private mixed(key: (typeof armKeys)[number], record: SampleRecord): HeamsError {
    return new HeamsError(`records of two arms in one experiment: they differ in "${key}"`, {
      code: 'records_mixed',
      expected: JSON.stringify(this.arm?.[key]),
      found: `${JSON.stringify(record[key])} in the record of sample ${JSON.stringify(record.sample_id)}`,
      hint: 'give each arm an experiment of its own',
    });
  }

  /** Throws when there was no record at all: there is then nothing to report. */
  result(): Pick<CiMetrics, 'identity' | 'judges' | 'primary' | 'helpfulness_thresholds'> {
    if (!this.arm) throw new HeamsError('there is no record to compute metrics of', { code: 'results_no_records' });
    const { benchmark, experiment, agent, memory, backend } = this.arm;
    const judges = [...this.judges.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return {
      identity: {
        benchmark,
        experiment,
        agent,
        memory,
        backend,
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
