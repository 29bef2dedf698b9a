import { HeamsError, messageOf, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { jsonErrorPosition } from './json-position.ts';

/** Columns a dataset must have. A value that is text is parsed as JSON; an object is taken as it is. */
export interface Columns {
  required: readonly string[];
  optional: readonly string[];
}

export interface Row {
  /** Place in the file, counting from 0. */
  row: number;
  where: Where;
  value: Record<string, unknown>;
}

/** A row, or why it cannot be read; the rows after a bad one can still be read. */
export type ScannedRow = ({ status: 'read' } & Row) | { status: 'bad'; row: number; where: Where; error: HeamsError };

/** How messages name a row. */
export const rowLabel = (row: number): string => `row ${row} (counting from 0)`;

/** Takes one record of the file apart: every required column is there, and columns that hold JSON text are parsed. */
export function decodeRow(record: unknown, row: number, where: Where, columns: Columns): ScannedRow {
  try {
    if (!isObject(record)) {
      throw new HeamsError(`${rowLabel(row)} is not an object`, {
        code: 'dataset_bad_row',
        where,
        expected: `an object with ${columns.required.join(' and ')}`,
        found: describeValue(record),
      });
    }
    throwIfColumnMissing(Object.keys(record), { columns, where, label: `${rowLabel(row)}: ` });
    const value = { ...record };
    for (const column of columns.required) value[column] = parseCell(record[column], column, row, where);
    return { status: 'read', row, where, value };
  } catch (error) {
    if (error instanceof HeamsError) return { status: 'bad', row, where, error };
    throw error;
  }
}

/** The error lists every column that was found, and the one that a misspelled name most likely meant. */
export function throwIfColumnMissing(
  found: readonly string[],
  options: { columns: Columns; where: Where; label?: string },
): void {
  const missing = options.columns.required.find((column) => !found.includes(column));
  if (missing === undefined) return;
  const near = nearest(missing, found);
  throw new HeamsError(`${options.label ?? ''}column "${missing}" is missing`, {
    code: 'dataset_missing_column',
    where: options.where,
    expected: options.columns.required.join(', '),
    found: found.length === 0 ? 'no column at all' : found.join(', '),
    ...(near === undefined ? {} : { hint: `rename "${near}" to "${missing}" if that is what it holds` }),
  });
}

function parseCell(cell: unknown, column: string, row: number, where: Where): unknown {
  if (typeof cell !== 'string') return cell;
  try {
    return JSON.parse(cell);
  } catch (error) {
    throw badJson(`${rowLabel(row)}: column "${column}" is not JSON`, cell, where, error);
  }
}

/** The error for text that is not JSON: the place, and the text around it. */
export function badJson(message: string, text: string, where: Where, cause: unknown): HeamsError {
  const position = jsonErrorPosition(text);
  const found =
    position === undefined
      ? messageOf(cause)
      : position.offset === text.length
        ? `the text ends too early, at character ${position.offset}`
        : `${excerpt(text, position.offset)} at character ${position.offset}`;
  return new HeamsError(message, { code: 'dataset_bad_json', where, expected: 'JSON', found, cause });
}

function excerpt(text: string, offset: number): string {
  const start = Math.max(0, offset - 16);
  const end = Math.min(text.length, offset + 24);
  return `${start > 0 ? '...' : ''}${JSON.stringify(text.slice(start, end))}${end < text.length ? '...' : ''}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A value's kind, and the value itself where it is short: for the "found" of a message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
}
