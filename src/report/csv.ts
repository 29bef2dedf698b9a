import { visible } from '../lib/escape.ts';

/** A number stays a number; everything else is text. `undefined` is an empty cell. */
export type CsvValue = string | number | boolean | undefined;

/**
 * One cell. Text that a spreadsheet would run as a formula (it starts with = + - @, a tab or a newline) gets an
 * apostrophe in front (OWASP, CSV injection). Numbers need none: they are written by us, and a minus sign stays a minus.
 */
function cell(value: CsvValue): string {
  if (value === undefined) return '';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`a table holds finite numbers alone; got ${value}`);
    return String(value);
  }
  if (typeof value === 'boolean') return String(value);
  const shown = visible(value);
  const safe = /^\s*[=+\-@]|^[\t\n]/.test(shown) ? `'${shown}` : shown;
  return /[",\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** A table as CSV (RFC 4180: CR LF between rows, quotes doubled). Every row has a value for each column, in order. */
export function toCsv(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
