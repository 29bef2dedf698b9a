import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FinishedKeys } from '../contracts/store.ts';
import { HeamsError } from '../lib/errors.ts';
import { recordSchema, type SampleRecord } from '../schema/record.ts';
import { IdTable } from '../stats/id-table.ts';
import { readLines } from './lines.ts';

/** What every line of `runs.jsonl` begins with. */
export const RECORD_START = '{"version":1,"status":"';

/** Every line of `runs.jsonl` starts like this, so that an index need not parse it. */
const head = /^\{"version":1,"status":"(done|failed)","key":"([0-9a-f]{8,64})"/;
const HEAD_BYTES = 120;

export interface LineHead {
  status: SampleRecord['status'];
  key: string;
}

/** Status and key from the first bytes of a line; nothing when HEAMS did not write it. */
export function lineHead(bytes: Buffer): LineHead | undefined {
  const match = head.exec(bytes.toString('latin1', 0, Math.min(bytes.length, HEAD_BYTES)));
  if (!match) return undefined;
  return { status: match[1] as 'done' | 'failed', key: match[2] as string };
}

/** A record as one line of `runs.jsonl`, with the newline. */
export function recordLine(record: SampleRecord): string {
  const { version, status, key, ...rest } = record;
  return `${JSON.stringify({ version, status, key, ...rest })}\n`;
}

function foreignLine(file: string, line: number, found: string): HeamsError {
  return new HeamsError('this line is not a record of HEAMS', {
    code: 'records_foreign_line',
    where: { file, line, column: 1 },
    expected: 'one JSON record a line, as `heams run` appends them',
    found,
    hint: 'remove the line, or restore the file; its job runs again on resume',
  });
}

/** Takes one record more into the keys of finished jobs. A job that is done never runs again, so a second word on it is foreign. */
export function takeIn(keys: FinishedKeys, { key, status }: LineHead, file: string, line: number): void {
  if (keys.done.has(key)) throw foreignLine(file, line, `a second record of job ${key}`);
  if (status === 'failed') keys.failed.add(key);
  else {
    keys.failed.delete(key);
    keys.done.add(key);
  }
}

/**
 * Keys of the jobs in a `runs.jsonl`, by how their last attempt ended; none where there is no such file. Nothing is
 * written: a line that was torn by a crash is passed over.
 */
export async function readFinished(file: string): Promise<FinishedKeys> {
  const keys: FinishedKeys = { done: new Set(), failed: new Set() };
  try {
    for await (const batch of readLines(file)) {
      for (const { number, bytes } of batch) {
        const line = lineHead(bytes);
        if (!line || bytes.at(-1) !== 0x7d) {
          throw foreignLine(file, number, JSON.stringify(bytes.toString('utf8', 0, 60)));
        }
        takeIn(keys, line, file, number);
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return keys;
}

interface Survey {
  lines: number;
  /** For each job whose last word is a failure, the line of that failure. */
  failures: Map<string, number>;
}

/** A first pass over the lines. Of done jobs it holds some 20 bytes each, to see that none comes twice. */
async function survey(file: string): Promise<Survey> {
  const failures = new Map<string, number>();
  const done = new IdTable();
  let lines = 0;
  for await (const batch of readLines(file)) {
    for (const { number, bytes } of batch) {
      lines = number;
      const line = lineHead(bytes);
      if (!line) continue;
      if (done.has(line.key)) throw foreignLine(file, number, `a second record of job ${line.key}`);
      if (line.status === 'failed') failures.set(line.key, number);
      else {
        failures.delete(line.key);
        done.idOf(line.key);
      }
    }
  }
  return { lines, failures };
}

/** Parses one line. A line that is not a record is an error that names it, never a row that is skipped. */
export function parseRecord(bytes: Buffer, file: string, line: number): SampleRecord {
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw foreignLine(file, line, `${JSON.stringify(text.slice(0, 60))} ...`);
  }
  const parsed = recordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw foreignLine(file, line, issue ? `${issue.path.join('.') || 'record'}: ${issue.message}` : 'another shape');
}

/**
 * The records of one experiment, each job once: a job that failed and was tried again counts by its last attempt.
 * Streams; memory grows by some bytes a job. What a run appends meanwhile is left out.
 */
export async function* readRecords(file: string): AsyncGenerator<SampleRecord> {
  const { lines, failures } = await survey(file);
  for await (const batch of readLines(file)) {
    for (const { number, bytes } of batch) {
      if (number > lines) return;
      const line = lineHead(bytes);
      if (line?.status === 'failed' && failures.get(line.key) !== number) continue;
      yield parseRecord(bytes, file, number);
    }
  }
}

export interface ExperimentFolder {
  name: string;
  dir: string;
  runsFile: string;
}

/** The experiments of a run folder, by name: every subfolder that holds a `runs.jsonl`. */
export async function listExperiments(resultsDir: string): Promise<ExperimentFolder[]> {
  let names: string[];
  try {
    names = await readdir(resultsDir);
  } catch (cause) {
    throw new HeamsError('there is no such results folder', {
      code: 'results_missing',
      where: { file: resultsDir },
      expected: 'a folder that `heams run --output-dir` wrote',
      hint: 'check the path given to --results-dir',
      cause,
    });
  }
  const found: ExperimentFolder[] = [];
  for (const name of names.sort()) {
    const dir = join(resultsDir, name);
    const runsFile = join(dir, 'runs.jsonl');
    const info = await stat(runsFile).catch(() => undefined);
    if (info?.isFile()) found.push({ name, dir, runsFile });
  }
  if (found.length === 0) {
    throw new HeamsError('this folder holds no experiment', {
      code: 'results_empty',
      where: { file: resultsDir },
      expected: 'at least one <experiment>/runs.jsonl',
      hint: 'run `heams run --config <run.yaml> --output-dir <this folder>` first',
    });
  }
  return found;
}
