import { HeamsError } from '../lib/errors.ts';

/** A cell, and where it begins; lines and columns count from 1. */
export interface CsvCell {
  text: string;
  line: number;
  column: number;
}

function broken(file: string, line: number, column: number, message: string, hint: string): HeamsError {
  return new HeamsError(message, { code: 'csv_broken', where: { file, line, column }, hint });
}

/**
 * The rows of a CSV text (RFC 4180: commas, quotes doubled inside quotes, CR LF or LF between rows), with the place of
 * every cell. Lines that hold nothing are passed over; a byte order mark in front is too.
 *
 * @throws HeamsError `csv_broken` for a quotation that does not end, or does not end its cell.
 */
export function readCsv(text: string, file: string): CsvCell[][] {
  const source = text.replace(/^\ufeff/, '');
  const rows: CsvCell[][] = [];
  let row: CsvCell[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;
  const place = () => ({ line, column: at - lineStart + 1 });
  const endRow = () => {
    if (row.length > 1 || row[0]?.text.trim()) rows.push(row);
    row = [];
  };

  const quotedCell = (): string => {
    const begin = place();
    let content = '';
    for (at += 1; ; at += 1) {
      const char = source[at];
      if (char === undefined) {
        throw broken(file, begin.line, begin.column, 'a quotation is not closed', 'close it with "');
      }
      if (char === '\n') {
        line += 1;
        lineStart = at + 1;
      }
      if (char !== '"') content += char;
      else if (source[at + 1] === '"') {
        content += '"';
        at += 1;
      } else break;
    }
    at += 1;
    if (at < source.length && !/[,\r\n]/.test(source[at] as string)) {
      const { line: l, column } = place();
      throw broken(
        file,
        l,
        column,
        'text after the end of a quotation',
        'double the quotes that belong to the text: ""',
      );
    }
    return content;
  };

  while (at < source.length) {
    const begin = place();
    let cell: string;
    if (source[at] === '"') cell = quotedCell();
    else {
      const end = /[,\r\n]/g;
      end.lastIndex = at;
      const stop = end.exec(source)?.index ?? source.length;
      cell = source.slice(at, stop);
      at = stop;
    }
    row.push({ text: cell, ...begin });
    if (source[at] === ',') {
      at += 1;
      // A comma at the very end opens one more, empty, cell.
      if (at === source.length) row.push({ text: '', ...place() });
      else if (/[\r\n]/.test(source[at] as string)) row.push({ text: '', ...place() });
      else continue;
    }
    if (source[at] === '\r') at += 1;
    if (source[at] === '\n') at += 1;
    line += 1;
    lineStart = at;
    endRow();
  }
  if (row.length > 0) endRow();
  return rows;
}
