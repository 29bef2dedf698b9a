import type { CiGrade, Side } from '../../schema/ci-grade.ts';
import type { ItemFlag } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { flagItems } from './flags.ts';

/** A grade is of one record alone, and several readers look at it. */
const flagsOfGrade = new WeakMap<CiGrade, Record<Side, ItemFlag[][]>>();

/**
 * Flags of the items of a graded record, in order, by the rules that audit the data. They rest on the record alone, so
 * old records are read by today's rules, and they never change a verdict. An item with any flag is left out of the
 * unflagged metrics.
 */
export function flagsOfRecord(
  record: Pick<SampleRecord, 'task' | 'facts'>,
  grade: CiGrade,
): Record<Side, ItemFlag[][]> {
  const known = flagsOfGrade.get(grade);
  if (known) return known;
  const { secrets, fields } = grade;
  const facts = record.facts.filter((fact) => !fact.distractor);
  const flags = flagItems({ task: record.task, facts, secrets, fields });
  flagsOfGrade.set(grade, flags);
  return flags;
}
