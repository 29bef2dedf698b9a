import type { CiGrade } from '../../schema/ci-grade.ts';
import { type CiMetrics, type FailureGroup, unjudgedReasons } from '../../schema/ci-metrics.ts';
import type { FailedRecord, SampleRecord } from '../../schema/record.ts';
import { TopList } from '../../stats/top-list.ts';

interface Example {
  sample_id: string;
  repeat: number;
  message: string;
}

const EXAMPLES = 3;
const MAX_GROUPS = 100;
const OTHER_CODES = '(other codes)';
const MESSAGE_LENGTH = 300;

const compareExamples = (a: Example, b: Example) =>
  a.sample_id === b.sample_id ? a.repeat - b.repeat : a.sample_id < b.sample_id ? -1 : 1;

const exampleOf = ({ sample_id, repeat }: SampleRecord, message: string): Example => ({
  sample_id,
  repeat,
  message: message.slice(0, MESSAGE_LENGTH),
});

/** Failed samples by stage and code, with a few examples of each; and grades that cannot be read. */
export class FailureTally {
  private readonly groups = new Map<string, { group: FailureGroup; examples: TopList<Example> }>();
  private readonly unreadable = new TopList<Example>(EXAMPLES, compareExamples);

  addFailed(record: FailedRecord): void {
    const { stage, code, message } = record.error;
    const known = this.groupOf(stage, code);
    known.group.count += 1;
    known.examples.add(exampleOf(record, message));
  }

  private groupOf(stage: FailureGroup['stage'], wanted: string) {
    const full = !this.groups.has(`${stage} ${wanted}`) && this.groups.size >= MAX_GROUPS;
    const code = full ? OTHER_CODES : wanted;
    const name = `${stage} ${code}`;
    const known = this.groups.get(name) ?? {
      group: { stage, code, count: 0, examples: [] },
      examples: new TopList<Example>(EXAMPLES, compareExamples),
    };
    this.groups.set(name, known);
    return known;
  }

  merge(other: FailureTally): void {
    for (const { group, examples } of other.groups.values()) {
      const known = this.groupOf(group.stage, group.code);
      known.group.count += group.count;
      known.examples.merge(examples);
    }
    this.unreadable.merge(other.unreadable);
  }

  addUnreadable(record: SampleRecord, problem: string): void {
    this.unreadable.add(exampleOf(record, problem));
  }

  result(): Pick<CiMetrics, 'failures' | 'unreadable'> {
    const failures = [...this.groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      failures: failures.map(([, { group, examples }]) => ({ ...group, examples: [...examples.values] })),
      unreadable: [...this.unreadable.values],
    };
  }
}

type Kind = CiMetrics['unjudged'][number]['kind'];
type Reason = CiMetrics['unjudged'][number]['reason'];
type Verdict = CiGrade['helpfulness'][string] | CiGrade['secrets'][number]['verdicts'][string] | undefined;

/** What the primary judge left unjudged, by kind and reason. */
export class UnjudgedTally {
  private readonly counts = new Map<string, number>();

  add(grade: CiGrade): void {
    for (const { verdicts } of grade.secrets) this.count('secret', verdicts[grade.primary]);
    for (const { verdicts } of grade.fields) this.count('field', verdicts[grade.primary]);
    this.count('helpfulness', grade.helpfulness[grade.primary]);
  }

  private count(kind: Kind, verdict: Verdict): void {
    if (verdict?.status === 'judged') return;
    const name = `${kind} ${verdict?.reason ?? 'missing'}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  merge(other: UnjudgedTally): void {
    for (const [name, count] of other.counts) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  result(): CiMetrics['unjudged'] {
    const kinds: Kind[] = ['secret', 'field', 'helpfulness'];
    return kinds.flatMap((kind) =>
      unjudgedReasons.flatMap((reason: Reason) => {
        const count = this.counts.get(`${kind} ${reason}`);
        return count === undefined ? [] : [{ kind, reason, count }];
      }),
    );
  }
}
