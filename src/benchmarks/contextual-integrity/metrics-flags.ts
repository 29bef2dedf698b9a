import type { CiGrade, Side } from '../../schema/ci-grade.ts';
import type { ItemFlag } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { flagItems } from './flags.ts';

/**
 * Flags of the items of a graded record, in order, by the rules that audit the data. They rest on the record alone, so
 * old records are read by today's rules, and they never change a verdict. An item with any flag is left out of the
 * unflagged metrics.
 */
export function flagsOfRecord(
  record: Pick<SampleRecord, 'task' | 'facts'>,
  grade: CiGrade,
): Record<Side, ItemFlag[][]> {
  const { secrets, fields } = grade;
  return flagItems({ task: record.task, facts: record.facts, secrets, fields });
}
