import { HeamsError, messageOf } from '../lib/errors.ts';
import { type Columns, decodeRow, type ScannedRow, throwIfColumnMissing } from './row.ts';

/** Rows of a parquet file, one row group at a time; only the named columns are read. */
export async function* scanParquet(file: string, columns: Columns, signal: AbortSignal): AsyncGenerator<ScannedRow> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const damaged = (error: unknown): never => {
    throw notParquet(file, messageOf(error), error);
  };

  const buffer = await asyncBufferFromFile(file);
  const metadata = await parquetMetadataAsync(buffer).catch(damaged);
  const present = parquetSchema(metadata).children.map((child) => child.element.name);
  throwIfColumnMissing(present, { columns, where: { file } });
  const wanted = [...columns.required, ...columns.optional].filter((column) => present.includes(column));

  let row = 0;
  for (const group of metadata.row_groups) {
    signal.throwIfAborted();
    const rowEnd = row + Number(group.num_rows);
    const records = await parquetReadObjects({
      file: buffer,
      metadata,
      compressors,
      columns: wanted,
      rowStart: row,
      rowEnd,
    }).catch(damaged);
    if (records.length !== rowEnd - row) throw notParquet(file, `a row group that holds ${records.length} rows`);
    for (const record of records) yield decodeRow(plainRecord(record), row++, { file }, columns);
  }
}

export function notParquet(file: string, found: string, cause?: unknown): HeamsError {
  return new HeamsError('not a parquet file, or a damaged one', {
    code: 'dataset_not_parquet',
    where: { file },
    expected: 'a whole parquet file (it starts and ends with PAR1)',
    found,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A record as JSON would hold it. Parquet's null means that the row has no such value, so the key goes. */
function plainRecord(record: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]));
}

/** Parquet has kinds that JSON has not: 64-bit integers and times. An integer too large for a number becomes text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
