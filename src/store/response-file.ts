import { saltOf } from '../contracts/call.ts';
import { sha256OfFile } from '../datasets/file-hash.ts';
import { HeamsError, throwIfAny, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { type ResponseLine, responseLineSchema } from '../schema/response-line.ts';
import { readLines } from './lines.ts';
import { type Place, readPlace } from './place.ts';

/** More problems than this at once help nobody. */
const MAX_PROBLEMS = 20;

/** Where one response stands, and what it is for. */
export interface ResponseEntry extends Place {
  sampleId: string;
  repeat: number;
  experiment: string | undefined;
}

const keys = Object.keys(responseLineSchema.shape);

function badLine(where: Where, expected: string, found: string, hint?: string): HeamsError {
  return new HeamsError('this line is not a response', {
    code: 'responses_bad_line',
    where,
    expected,
    found,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** One line parsed, or what is wrong with it; nothing for a blank line. */
function parseLine(bytes: Uint8Array, where: Where): ResponseLine | HeamsError | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return badLine(where, 'UTF-8', 'bytes that are not UTF-8', 'save the file as UTF-8');
  }
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return badLine(where, 'one JSON object a line', `${JSON.stringify(text.slice(0, 60))} ...`);
  }
  const parsed = responseLineSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path.join('.') || 'the line';
  if (issue?.code !== 'unrecognized_keys') {
    const absent = issue?.path.length === 1 && issue.code === 'invalid_type' && !Object.hasOwn(Object(value), path);
    return badLine(where, keys.join(', '), absent ? `no "${path}"` : `${path}: ${issue?.message}`);
  }
  const [unknown = ''] = issue.keys;
  const meant = nearest(unknown, keys);
  return badLine(where, keys.join(', '), `the key "${unknown}"`, meant && `did you mean "${meant}"?`);
}

/** Gathers problems, and gives up when there are too many to read. */
class Problems {
  private readonly found: HeamsError[] = [];

  add(problem: HeamsError): void {
    this.found.push(problem);
    if (this.found.length >= MAX_PROBLEMS) this.end();
  }

  end(): void {
    throwIfAny(this.found);
  }
}

/** Responses by sample and repeat, each read when it is asked for. Holds some bytes a response. */
export interface ResponseFile {
  entries: readonly ResponseEntry[];
  sha256: string;
  /** The line with this salt (`saltOf`), of one experiment where one is named; nothing where there is none. */
  get(salt: string, experiment?: string): Promise<ResponseLine | undefined>;
}

const keyOf = (salt: string, experiment: string | undefined) => JSON.stringify([experiment ?? null, salt]);

/**
 * Reads a responses file once and checks every line: `responses_bad_line`, `responses_duplicate`, `responses_empty`. All
 * problems, or the first twenty, come in one error.
 */
export async function openResponses(file: string, signal: AbortSignal): Promise<ResponseFile> {
  const problems = new Problems();
  const byKey = new Map<string, ResponseEntry>();
  const sha256 = await sha256OfFile(file, signal);
  let offset = 0;
  for await (const batch of readLines(file, undefined, 'keep')) {
    for (const { number, bytes } of batch) {
      const where = { file, line: number, column: 1 };
      const parsed = parseLine(bytes, where);
      const place = { line: number, offset, length: bytes.length };
      offset += bytes.length + 1;
      if (parsed === undefined) continue;
      if (parsed instanceof HeamsError) {
        problems.add(parsed);
        continue;
      }
      const { sample_id: sampleId, repeat, experiment } = parsed;
      const key = keyOf(saltOf(sampleId, repeat), experiment);
      const first = byKey.get(key);
      if (first) problems.add(duplicate(where, parsed, first.line));
      else byKey.set(key, { ...place, sampleId, repeat, experiment });
    }
  }
  problems.end();
  if (byKey.size === 0) throw noResponses(file);
  return {
    entries: [...byKey.values()],
    sha256,
    get: async (salt, experiment) => {
      const entry = byKey.get(keyOf(salt, experiment));
      if (!entry) return undefined;
      const parsed = parseLine(await readPlace(file, entry), { file, line: entry.line, column: 1 });
      if (parsed && !(parsed instanceof HeamsError) && saltOf(parsed.sample_id, parsed.repeat) === salt) return parsed;
      throw new HeamsError('the responses file was changed while it was being read', {
        code: 'responses_changed',
        where: { file, line: entry.line, column: 1 },
        hint: 'run the command again when the file is complete',
      });
    },
  };
}

function duplicate(where: Where, { sample_id, repeat }: ResponseLine, first: number): HeamsError {
  return new HeamsError(`a second response for sample "${sample_id}", repeat ${repeat}`, {
    code: 'responses_duplicate',
    where,
    expected: 'one response for each sample, repeat and experiment',
    found: `the first is in line ${first}`,
    hint: 'number repeated tries with "repeat": 0, 1, ...; name other systems with "experiment"',
  });
}

function noResponses(file: string): HeamsError {
  return new HeamsError('this file holds no response', {
    code: 'responses_empty',
    where: { file },
    expected: 'lines such as {"sample_id": "ci-0000", "message": "..."}',
    found: 'none',
  });
}
