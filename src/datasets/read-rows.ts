import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import { HeamsError } from '../lib/errors.ts';
import { unreadableFile } from './file-hash.ts';
import { notParquet, scanParquet } from './read-parquet.ts';
import { scanJson, scanJsonl } from './read-text.ts';
import type { Columns, Row, ScannedRow } from './row.ts';

export interface ReadOptions {
  columns: Columns;
  signal: AbortSignal;
}

type Format = 'parquet' | 'json' | 'jsonl';

const formats: Readonly<Record<string, Format>> = {
  '.parquet': 'parquet',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/**
 * The rows of a parquet, JSON or JSON Lines file in order, bad ones among them. Throws a `HeamsError` where the file as
 * a whole cannot be read: `dataset_empty`, `dataset_not_parquet`, `dataset_missing_column` (parquet names its columns
 * once for all rows), `dataset_bad_json`, `dataset_not_a_list`, `dataset_not_utf8`, `dataset_unknown_format`.
 */
export async function* scanRows(file: string, options: ReadOptions): AsyncGenerator<ScannedRow> {
  const { columns, signal } = options;
  const scan = { parquet: scanParquet, json: scanJson, jsonl: scanJsonl }[await formatOf(file)];
  let count = 0;
  try {
    for await (const row of scan(file, columns, signal)) {
      signal.throwIfAborted();
      count++;
      yield row;
    }
  } catch (error) {
    // Node's streams reject with their own error; the caller knows the signal's reason.
    if (!(error instanceof HeamsError)) signal.throwIfAborted();
    throw error;
  }
  if (count === 0) throw emptyFile(file, 'no rows');
}

/** The rows of a file in order; the first bad one ends it with its error. */
export async function* readRows(file: string, options: ReadOptions): AsyncGenerator<Row> {
  for await (const scanned of scanRows(file, options)) {
    if (scanned.status === 'bad') throw scanned.error;
    yield { row: scanned.row, where: scanned.where, value: scanned.value };
  }
}

/** The first bytes settle parquet, whatever the name; text goes by its extension. */
async function formatOf(file: string): Promise<Format> {
  const start = await firstBytes(file);
  if (start.length === 0) throw emptyFile(file, '0 bytes');
  if (start.startsWith('PAR1')) return 'parquet';
  const format = formats[extname(file).toLowerCase()];
  if (format === 'parquet') throw notParquet(file, whatItIs(start));
  if (format !== undefined) return format;
  throw new HeamsError('the format of the file is not known', {
    code: 'dataset_unknown_format',
    where: { file },
    expected: `a name that ends in ${Object.keys(formats).join(', ')}`,
    found: extname(file) || 'no extension',
  });
}

async function firstBytes(file: string): Promise<string> {
  const handle = await open(file).catch((error: unknown) => {
    throw unreadableFile(file, error);
  });
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch (error) {
    throw unreadableFile(file, error);
  } finally {
    await handle.close();
  }
}

/** What usually stands where a parquet file should, in words. */
function whatItIs(start: string): string {
  if (/^\s*<(!doctype|html|\?xml)/i.test(start)) return 'a web page, such as the login page of a proxy';
  if (start.startsWith('version https://git-lfs')) return 'a Git LFS pointer in place of the file';
  if (/^\s*[{[]/.test(start)) return 'JSON text: name it .json (a list) or .jsonl (a row a line)';
  return `a file that starts with ${JSON.stringify(start.slice(0, 16))}`;
}

function emptyFile(file: string, found: string): HeamsError {
  return new HeamsError('the dataset is empty', {
    code: 'dataset_empty',
    where: { file },
    expected: 'at least one row',
    found,
  });
}
