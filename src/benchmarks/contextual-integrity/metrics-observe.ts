import {
  type CiGrade,
  type GradedItem,
  type ItemVerdict,
  type Side,
  STRING_BOUNDARY,
  STRING_RAW,
} from '../../schema/ci-grade.ts';
import type { ItemFlag } from '../../schema/ci-metrics.ts';

/** What a verdict says, with everything that is no answer in one word. */
export type Outcome = 'yes' | 'no' | 'open';

export function outcomeOf(verdict: ItemVerdict | undefined): Outcome {
  if (verdict?.status !== 'judged') return 'open';
  return verdict.value ? 'yes' : 'no';
}

/** Families of items that are counted by outcome; each becomes three columns. */
export const families = [
  'secret',
  'field',
  'clean_secret',
  'clean_field',
  'raw_secret',
  'raw_field',
  'boundary_secret',
  'boundary_field',
  'recalled_secret',
  'recalled_field',
] as const;
export type Family = (typeof families)[number];

const extra = ['secret_stored', 'secret_kept', 'field_stored', 'field_kept'] as const;
export const columnNames = [
  ...families.flatMap((family) => [`${family}_yes`, `${family}_no`, `${family}_open`] as const),
  ...extra,
] as const;
export type ColumnName = `${Family}_${Outcome}` | (typeof extra)[number];

/** Counts of one graded sample: items by family and outcome; stored items, and those of them that were recalled (kept). */
export type Counts = Record<ColumnName, number>;

/** Whether the agent helped, by the primary judge and the threshold in the grade. */
export function helpfulOf(grade: CiGrade): Outcome {
  const verdict = grade.helpfulness[grade.primary];
  if (verdict?.status !== 'judged') return 'open';
  return verdict.value >= grade.helpfulness_threshold ? 'yes' : 'no';
}

const zeros = Object.fromEntries(columnNames.map((name) => [name, 0])) as Counts;
export const noCounts = (): Counts => ({ ...zeros });

/** Column names of a side, put together once and not for every item of a million samples. */
function namesOf(side: Side) {
  const family = <F extends string>(prefix: F) =>
    ({ yes: `${prefix}_yes`, no: `${prefix}_no`, open: `${prefix}_open` }) as { [O in Outcome]: `${F}_${O}` };
  return {
    all: family(side),
    clean: family(`clean_${side}`),
    raw: family(`raw_${side}`),
    boundary: family(`boundary_${side}`),
    recalled: family(`recalled_${side}`),
    stored: `${side}_stored` as const,
    kept: `${side}_kept` as const,
  };
}
const names = { secret: namesOf('secret'), field: namesOf('field') };

function countItem(counts: Counts, side: Side, item: GradedItem, clean: boolean, primary: string): void {
  const columns = names[side];
  const outcome = outcomeOf(item.verdicts[primary]);
  counts[columns.all[outcome]] += 1;
  if (clean) counts[columns.clean[outcome]] += 1;
  counts[columns.raw[outcomeOf(item.verdicts[STRING_RAW])]] += 1;
  counts[columns.boundary[outcomeOf(item.verdicts[STRING_BOUNDARY])]] += 1;
  const { stored, recalled } = item.exposure;
  if (recalled) counts[columns.recalled[outcome]] += 1;
  if (stored) counts[columns.stored] += 1;
  if (stored && recalled) counts[columns.kept] += 1;
}

/** Counts of a grade, given the flags of its secrets and fields. */
export function countGrade(grade: CiGrade, flags: Record<Side, ItemFlag[][]>): Counts {
  const counts = noCounts();
  const sidesOf = [
    ['secret', grade.secrets],
    ['field', grade.fields],
  ] as const;
  for (const [side, items] of sidesOf) {
    for (const [i, item] of items.entries()) {
      countItem(counts, side, item, flags[side][i]?.length === 0, grade.primary);
    }
  }
  return counts;
}
