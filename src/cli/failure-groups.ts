import { oneLine } from '../lib/escape.ts';
import type { FailedRecord, SampleRecord } from '../schema/record.ts';
import { textTable } from './table.ts';

/** Samples that failed in the same stage with the same code. */
export interface FailureGroup {
  stage: FailedRecord['error']['stage'];
  code: string;
  count: number;
  experiments: string[];
  /** What the first of them said. */
  message: string;
}

const MESSAGE_LENGTH = 200;

/** Gathers why samples failed, as their records come in. */
export class FailureGroups {
  private readonly groups = new Map<string, FailureGroup>();

  add(record: SampleRecord): void {
    if (record.status === 'done') return;
    const { stage, code, message } = record.error;
    const known = this.groups.get(`${stage} ${code}`);
    const group = known ?? { stage, code, count: 0, experiments: [], message };
    group.count += 1;
    if (!group.experiments.includes(record.experiment)) group.experiments.push(record.experiment);
    this.groups.set(`${stage} ${code}`, group);
  }

  /** The largest first; of equal ones, by name. */
  get sorted(): FailureGroup[] {
    return [...this.groups]
      .sort(([a, { count: x }], [b, { count: y }]) => y - x || (a < b ? -1 : 1))
      .map(([, group]) => group);
  }
}

function short(text: string): string {
  const line = oneLine(text);
  return line.length > MESSAGE_LENGTH ? `${line.slice(0, MESSAGE_LENGTH)}...` : line;
}

/** The groups as lines for a terminal; none where nothing failed. */
export function failureLines(groups: readonly FailureGroup[]): string[] {
  if (groups.length === 0) return [];
  const rows = groups.map(({ stage, code, count, experiments, message }) => [
    `  ${stage}`,
    oneLine(code),
    String(count),
    short(experiments.join(', ')),
    short(message),
  ]);
  return textTable([['Failed in', 'code', 'samples', 'arms', 'the first of them'], ...rows], new Set([2]));
}
