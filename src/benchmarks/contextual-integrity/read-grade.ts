import { type CiGrade, ciGradeSchema } from '../../schema/ci-grade.ts';
import type { SampleRecord } from '../../schema/record.ts';

export type GradeReading = { ok: true; grade: CiGrade } | { ok: false; problem: string };

/** By the grade as it stands in the record: several readers look at one record, and checking its shape is most of the work. */
const readings = new WeakMap<object, GradeReading>();

function read(grade: unknown): GradeReading {
  const parsed = ciGradeSchema.safeParse(grade);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { ok: false, problem: `${issue?.path.join('.') || 'grade'}: ${issue?.message ?? 'another shape'}` };
  }
  const { judges, primary } = parsed.data;
  if (judges.some(({ id }) => id === primary)) return { ok: true, grade: parsed.data };
  return { ok: false, problem: `primary: no judge has the id ${JSON.stringify(primary)}` };
}

/** A grade of CI's shape whose primary judge is among its judges, or what is wrong with it. */
export function readGrade(grade: unknown): GradeReading {
  if (typeof grade !== 'object' || grade === null) return read(grade);
  const known = readings.get(grade) ?? read(grade);
  readings.set(grade, known);
  return known;
}

/** The grade of a record; nothing where it failed or where the grade cannot be read. */
export function gradeOf(record: SampleRecord): CiGrade | undefined {
  if (record.status === 'failed') return undefined;
  const reading = readGrade(record.grade);
  return reading.ok ? reading.grade : undefined;
}
