import { type CsvCell, readCsv } from '../../datasets/read-csv.ts';
import { HeamsError, throwIfAny, type Where } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { LabelSide } from '../../schema/label-agreement.ts';

/** What a rater may say about a side, in the order of a confusion table. */
export const labelsOf: Readonly<Record<LabelSide, readonly string[]>> = {
  secret: ['no', 'yes'],
  field: ['no', 'yes'],
  helpfulness: ['0', '1', '2', '3'],
};

/** One row of a label file. */
export interface Label {
  /** A job's key, or `experiment/sample_id/repeat`. */
  record: string;
  side: LabelSide;
  /** The item's key; empty for helpfulness. */
  key: string;
  /** Index into `labelsOf`; absent for `unsure`. */
  value?: number;
  rater: string;
  where: { record: Where; item: Where };
}

const needed = ['record', 'item', 'label'] as const;
const columns: readonly string[] = [...needed, 'rater', 'comment'];
/** More errors than a person mends in one pass. */
const MAX_ERRORS = 20;

/** The name of a rater where the file has no column for it. */
const ONE_RATER = 'rater';

/**
 * Labels of people, from CSV with the columns `record`, `item` (`secret:<key>`, `field:<key>` or `helpfulness`), `label`
 * (`yes` or `no`; 0 to 3 for helpfulness; `unsure` for either) and, where there are several raters, `rater`. A column
 * `comment` is passed over.
 *
 * @throws HeamsError with file, line and column for whatever cannot be read; all of them at once, up to twenty.
 */
export function parseLabels(text: string, file: string): Label[] {
  const [header, ...rows] = readCsv(text, file);
  const places = readHeader(header, file);
  const errors: HeamsError[] = [];
  const labels: Label[] = [];
  for (const row of rows) {
    if (errors.length >= MAX_ERRORS) break;
    try {
      labels.push(readRow(row, places, file));
    } catch (error) {
      if (!(error instanceof HeamsError)) throw error;
      errors.push(error);
    }
  }
  throwIfAny(errors);
  if (labels.length > 0) return labels;
  throw new HeamsError('the file holds no label', {
    code: 'labels_empty',
    where: { file },
    expected: `a row of ${needed.join(', ')} for each label`,
  });
}

type Places = ReadonlyMap<string, number>;

function readHeader(header: readonly CsvCell[] | undefined, file: string): Places {
  const places = new Map<string, number>();
  const expected = `the columns ${needed.join(', ')}, and rater where there are several`;
  for (const [i, cell] of (header ?? []).entries()) {
    const name = cell.text.trim().toLowerCase();
    if (!columns.includes(name) || places.has(name)) {
      const meant = nearest(name, columns);
      const [found] = [name.slice(0, 60)];
      throw new HeamsError(places.has(name) ? `a second column "${name}"` : `unknown column "${found}"`, {
        code: 'labels_bad_header',
        where: whereOf(cell, file),
        expected,
        found,
        hint: /[;\t]/.test(name)
          ? 'columns are separated by commas'
          : meant && !places.has(name)
            ? `did you mean "${meant}"?`
            : 'rename the column "comment", or take it out',
      });
    }
    places.set(name, i);
  }
  for (const name of needed) {
    if (places.has(name)) continue;
    throw new HeamsError(`the column "${name}" is missing`, {
      code: 'labels_bad_header',
      where: { file, line: 1, column: 1 },
      expected,
      found: [...places.keys()].join(', ') || 'nothing',
    });
  }
  return places;
}

const whereOf = ({ line, column }: CsvCell, file: string): Where => ({ file, line, column });

function readRow(row: readonly CsvCell[], places: Places, file: string): Label {
  const first = row[0] as CsvCell;
  const cell = (name: string): CsvCell => {
    const found = row[places.get(name) as number];
    if (found) return found;
    throw new HeamsError(`this row has no cell for "${name}"`, {
      code: 'labels_bad_row',
      where: whereOf(first, file),
      expected: `${places.size} cells`,
      found: `${row.length}`,
    });
  };
  const record = filled(cell('record'), 'record', file);
  const item = filled(cell('item'), 'item', file);
  const [side, key] = readItem(item, cell('item'), file);
  const value = readLabel(cell('label'), side, file);
  const rater = places.has('rater') ? filled(cell('rater'), 'rater', file) : ONE_RATER;
  return {
    ...{ record, side, key, rater },
    ...(value === undefined ? {} : { value }),
    where: { record: whereOf(cell('record'), file), item: whereOf(cell('item'), file) },
  };
}

function filled(cell: CsvCell, name: string, file: string): string {
  const text = cell.text.trim();
  if (text !== '') return text;
  throw new HeamsError(`"${name}" is empty`, { code: 'labels_bad_row', where: whereOf(cell, file) });
}

function readItem(text: string, cell: CsvCell, file: string): [LabelSide, string] {
  if (text === 'helpfulness') return ['helpfulness', ''];
  const match = /^(secret|field):([\s\S]+)$/.exec(text);
  if (match) return [match[1] as LabelSide, match[2] as string];
  throw new HeamsError(`"${text.slice(0, 60)}" names no item`, {
    code: 'labels_bad_item',
    where: whereOf(cell, file),
    expected: 'secret:<key>, field:<key> or helpfulness',
    found: text.slice(0, 60),
  });
}

function readLabel(cell: CsvCell, side: LabelSide, file: string): number | undefined {
  const text = cell.text.trim().toLowerCase();
  if (text === 'unsure') return undefined;
  const value = labelsOf[side].indexOf(text);
  if (value >= 0) return value;
  throw new HeamsError(`"${text.slice(0, 60)}" is no label of a ${side === 'helpfulness' ? 'message' : side}`, {
    code: 'labels_bad_label',
    where: whereOf(cell, file),
    expected: `${labelsOf[side].join(', ')} or unsure`,
    found: text === '' ? 'nothing' : text.slice(0, 60),
  });
}
