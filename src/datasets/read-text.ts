import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { jsonErrorPosition } from './json-position.ts';
import { badJson, type Columns, decodeRow, describeValue, rowLabel, type ScannedRow } from './row.ts';

/** Rows of a JSON Lines file, one at a time. Blank lines are no rows. */
export async function* scanJsonl(file: string, columns: Columns, signal: AbortSignal): AsyncGenerator<ScannedRow> {
  let row = 0;
  let line = 0;
  for await (const text of linesOf(file, signal)) {
    line++;
    if (text.trim() === '') continue;
    const where = { file, line };
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch (error) {
      yield { status: 'bad', row, where, error: badJson(`${rowLabel(row)} is not JSON`, text, where, error) };
      row++;
      continue;
    }
    yield decodeRow(record, row, where, columns);
    row++;
  }
}

/** Rows of a JSON file that holds one list. */
export async function* scanJson(file: string, columns: Columns, signal: AbortSignal): AsyncGenerator<ScannedRow> {
  const text = decodeUtf8(new TextDecoder('utf-8', { fatal: true }), file, await readFile(file, { signal }));
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    const position = jsonErrorPosition(text);
    const where = position === undefined ? { file } : { file, line: position.line, column: position.column };
    const problem = badJson('the file is not JSON', text, where, error);
    throw new HeamsError(problem.message, {
      code: problem.code,
      where,
      expected: 'a JSON list of rows',
      ...(problem.found === undefined ? {} : { found: problem.found }),
      hint: 'if the file holds one row a line, name it .jsonl',
      cause: error,
    });
  }
  if (!Array.isArray(list)) {
    throw new HeamsError('the file does not hold a list of rows', {
      code: 'dataset_not_a_list',
      where: { file },
      expected: 'a JSON list of rows',
      found: describeValue(list),
    });
  }
  for (const [row, record] of list.entries()) yield decodeRow(record, row, { file }, columns);
}

type Decoder = InstanceType<typeof TextDecoder>;

/** The lines of a UTF-8 file without their ends, in bounded memory. */
async function* linesOf(file: string, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const bytes of createReadStream(file, { signal })) {
    // Only the new part is searched, so that one very long line costs no more than many short ones.
    const parts = decodeUtf8(decoder, file, bytes as Buffer, { stream: true }).split('\n');
    parts[0] = rest + parts[0];
    rest = parts.pop() as string;
    yield* parts;
  }
  rest += decodeUtf8(decoder, file);
  if (rest !== '') yield rest;
}

function decodeUtf8(decoder: Decoder, file: string, bytes?: Uint8Array, options?: { stream: boolean }): string {
  try {
    return decoder.decode(bytes, options);
  } catch (error) {
    throw new HeamsError('the file is not UTF-8 text', {
      code: 'dataset_not_utf8',
      where: { file },
      expected: 'UTF-8',
      found: messageOf(error),
      hint: 'save it as UTF-8',
      cause: error,
    });
  }
}
