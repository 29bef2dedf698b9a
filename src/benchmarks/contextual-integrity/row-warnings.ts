import { rowLabel } from '../../datasets/row.ts';
import { HeamsError, type Where } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { CiRow } from '../../schema/contextual-integrity.ts';
import { type CiItem, type CiSample, seedVariables } from './sample.ts';

/** Every field of a seed that the published rows have. */
const seedFields: readonly string[] = [...seedVariables, 'information_type'];

interface CheckedSample {
  row: CiRow;
  sample: Pick<CiSample, 'facts' | 'data'>;
  index: number;
  where: Where;
}

/**
 * What in a good row is likely a mistake, though it can be run: `dataset_unknown_seed_field`, which no prompt sees, and
 * `dataset_value_in_no_fact`, an annotated value that no memory is given, so that it cannot be recalled.
 */
export function rowWarnings({ row, sample, index, where }: CheckedSample): HeamsError[] {
  return [...unknownSeedFields(row, index, where), ...valuesInNoFact(sample, index, where)];
}

function unknownSeedFields({ seed }: CiRow, index: number, where: Where): HeamsError[] {
  return Object.keys(seed)
    .filter((key) => !seedFields.includes(key))
    .map((key) => {
      const meant = nearest(key, seedFields);
      return new HeamsError(`${rowLabel(index)}: the seed has a field that HEAMS does not read`, {
        code: 'dataset_unknown_seed_field',
        where,
        expected: seedFields.join(', '),
        found: JSON.stringify(key),
        ...(meant === undefined ? {} : { hint: `did you mean "${meant}"?` }),
      });
    });
}

function valuesInNoFact({ facts, data }: CheckedSample['sample'], index: number, where: Where): HeamsError[] {
  const texts = facts.map(({ text }) => text.toLowerCase());
  const isAbsent = (part: string) => !texts.some((text) => text.includes(part.toLowerCase()));
  const absent = (side: string, items: readonly CiItem[]) =>
    items.flatMap(({ key, parts }) => parts.filter(isAbsent).map((part) => ({ side, key, part })));
  return [...absent('allowed', data.fields), ...absent('disallowed', data.secrets)].map(
    ({ side, key, part }) =>
      new HeamsError(`${rowLabel(index)}: the value of annotation.${side}.${key} is in no fact`, {
        code: 'dataset_value_in_no_fact',
        where,
        expected: 'words of a fact in dataset_item.information, as they stand there',
        found: JSON.stringify(part),
        hint: 'a message that repeats the facts would neither leak nor cover it',
      }),
  );
}
