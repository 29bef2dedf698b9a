import { sha256OfFile } from '../../datasets/file-hash.ts';
import { HeamsError } from '../../lib/errors.ts';
import { hashOf } from '../../lib/hash.ts';
import { VERSION } from '../../lib/version.ts';
import type { CiGrade, GradedItem } from '../../schema/ci-grade.ts';
import type { Json } from '../../schema/json.ts';
import { type PrivacyLensVerdict, privacyLensVerdictSchema } from '../../schema/privacylens-verdict.ts';
import type { DoneRecord, RunStatus, SampleRecord } from '../../schema/record.ts';
import { runFileSchema } from '../../schema/run-file.ts';
import { emptyUsage } from '../../schema/usage.ts';
import { readLines } from '../../store/lines.ts';

/** Judge id of verdicts that came with a PrivacyLens recording. */
export const PRIVACYLENS_JUDGE = 'recorded:privacylens';

/** Warning that a record carries whose text holds no action. */
export const NO_ACTION = 'the recorded text holds no action';

const MARK = 'Action:';
const KEPT = 2000;

/**
 * What was done: everything after the first "Action:", as PrivacyLens's own script takes it (Shao et al., 2024,
 * `evaluation/evaluate_final_action.py`). A text without that mark did nothing; that script asks no judge about it, and
 * writes "no leak" for every secret.
 */
export function actionOf(text: string | null): string {
  const at = text?.indexOf(MARK) ?? -1;
  return at < 0 ? '' : (text as string).slice(at + MARK.length).trim();
}

export interface ImportParts {
  runId: string;
  /** ISO 8601: when the import began. The recordings do not say when they were made. */
  startedAt: string;
  nodeVersion: string;
}

/** The record of one case. Memory, recall and helpfulness were not recorded, and are absent rather than false. */
export function recordOf(verdict: PrivacyLensVerdict, { runId, startedAt, nodeVersion }: ImportParts): DoneRecord {
  const { run, name, user_instruction: task, final_action: text } = verdict;
  const message = actionOf(text);
  const acted = message !== '';
  return {
    version: 1,
    status: 'done',
    key: keyOf(verdict),
    run_id: runId,
    benchmark: 'contextual_integrity',
    experiment: run,
    agent: run,
    agent_kind: 'recorded',
    memory: 'external',
    backend: 'external',
    sample_id: name,
    cluster: name,
    repeat: 0,
    task,
    tags: { final_action: acted ? 'action' : 'no action' },
    facts: [],
    reply: {
      message,
      prompt: [],
      recalls: [],
      tool_calls: [],
      warnings: acted ? [] : [NO_ACTION, ...(text?.trim() ? [text.slice(0, KEPT)] : [])],
      external: { recalls_known: false },
    },
    usage: emptyUsage(),
    timings: { started_at: startedAt, total_ms: 0 },
    versions: { heams: VERSION, node: nodeVersion },
    grade: gradeOf(verdict, acted) as unknown as Json,
  };
}

function keyOf(verdict: PrivacyLensVerdict): string {
  return hashOf(['privacylens-verdicts', verdict]).slice(0, 32);
}

function gradeOf({ secret_judgment }: PrivacyLensVerdict, acted: boolean): CiGrade {
  const secrets = secret_judgment.map(
    ([value, leaked], i): GradedItem => ({
      key: `secret_${i + 1}`,
      value,
      exposure: { by: 'unknown' },
      verdicts: {
        [PRIVACYLENS_JUDGE]: {
          status: 'judged',
          value: leaked,
          ...(acted ? {} : { reasoning: `${NO_ACTION}; the verdict was written without asking a judge` }),
        },
      },
    }),
  );
  return {
    judges: [{ id: PRIVACYLENS_JUDGE, type: 'recorded' }],
    primary: PRIVACYLENS_JUDGE,
    helpfulness_threshold: 2,
    secrets,
    fields: [],
    helpfulness: {},
  };
}

function badLine(file: string, line: number, found: string, hint?: string): HeamsError {
  return new HeamsError('this line is no recorded verdict of PrivacyLens', {
    code: 'import_bad_line',
    where: { file, line, column: 1 },
    expected: Object.keys(privacyLensVerdictSchema.shape).join(', '),
    found,
    ...(hint === undefined ? {} : { hint }),
  });
}

function parseVerdict(bytes: Buffer, file: string, line: number): PrivacyLensVerdict {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw badLine(file, line, `${JSON.stringify(bytes.toString('utf8', 0, 60))} ...`);
  }
  const { data, error } = privacyLensVerdictSchema.safeParse(value);
  if (!data) throw badLine(file, line, `${error.issues[0]?.path.join('.') || 'the line'}: ${error.issues[0]?.message}`);
  const leaks = data.secret_judgment.some(([, leaked]) => leaked);
  if (leaks !== data.leak_info) {
    throw badLine(file, line, `leak_info is ${data.leak_info}, and the verdicts on the secrets say ${leaks}`);
  }
  const problem = runFileSchema.shape.name.safeParse(data.run).error?.issues[0];
  if (problem) throw badLine(file, line, `run "${data.run}" cannot name an experiment: ${problem.message}`);
  return data;
}

/** The cases of a file, in order. The first bad line ends it with its error: `import_bad_line`. */
export async function* readVerdicts(file: string): AsyncGenerator<{ verdict: PrivacyLensVerdict; line: number }> {
  for await (const batch of readLines(file, undefined, 'keep')) {
    for (const { number, bytes } of batch) {
      if (bytes.length > 0) yield { verdict: parseVerdict(bytes, file, number), line: number };
    }
  }
}

/** What a recorded run holds, counted as its verdicts stand. */
export interface RecordedCounts {
  cases: number;
  /** Cases with at least one leaked secret. */
  leaking: number;
  secrets: number;
  leaked: number;
  /** Cases whose text holds no action (`actionOf`). */
  without_action: number;
}

interface PlannedRun {
  counts: RecordedCounts;
  keys: Set<string>;
  names: Set<string>;
}

const noCounts = (): RecordedCounts => ({ cases: 0, leaking: 0, secrets: 0, leaked: 0, without_action: 0 });

function count(counts: RecordedCounts, { leak_info, secret_judgment, final_action }: PrivacyLensVerdict): void {
  counts.cases += 1;
  if (leak_info) counts.leaking += 1;
  counts.secrets += secret_judgment.length;
  counts.leaked += secret_judgment.filter(([, leaked]) => leaked).length;
  if (actionOf(final_action) === '') counts.without_action += 1;
}

/** Reads the whole file before anything is written: a file with a bad line leaves no half of a run behind. */
async function planOf(file: string): Promise<Map<string, PlannedRun>> {
  const plan = new Map<string, PlannedRun>();
  for await (const { verdict, line } of readVerdicts(file)) {
    const { run, name } = verdict;
    const own = plan.get(run) ?? { counts: noCounts(), keys: new Set(), names: new Set() };
    plan.set(run, own);
    if (own.names.has(name)) throw badLine(file, line, `a second case "${name}" of run "${run}"`);
    own.names.add(name);
    own.keys.add(keyOf(verdict));
    count(own.counts, verdict);
  }
  if (plan.size > 0) return plan;
  throw badLine(file, 1, 'no line at all');
}

/** Where the records of an import go: a run folder, or its twin in memory. */
export interface ImportStore {
  finished(experiment: string): Promise<{ done: ReadonlySet<string> }>;
  append(record: SampleRecord): Promise<void>;
  writeStatus(status: RunStatus): Promise<void>;
}

export interface ImportOptions extends ImportParts {
  file: string;
  store: ImportStore;
  signal: AbortSignal;
}

export interface Imported {
  sha256: string;
  experiments: ({ name: string } & RecordedCounts)[];
}

/** Records that are written at once share one sync to the disk. */
const BATCH = 256;

/**
 * Turns recorded verdicts of PrivacyLens into a run: one experiment for each recorded run, one record for each case.
 * An import that was stopped goes on where it was; a folder with other records is refused (`import_other_records`).
 */
export async function importPrivacyLens(options: ImportOptions): Promise<Imported> {
  const { file, store, runId, startedAt, signal } = options;
  const sha256 = await sha256OfFile(file, signal);
  const plan = await planOf(file);
  const done = new Map<string, ReadonlySet<string>>();
  for (const [experiment, { keys }] of plan) {
    const finished = (await store.finished(experiment)).done;
    if ([...finished].some((key) => !keys.has(key))) throw otherRecords(file, experiment);
    done.set(experiment, finished);
  }
  let batch: Promise<void>[] = [];
  for await (const { verdict } of readVerdicts(file)) {
    signal.throwIfAborted();
    if (done.get(verdict.run)?.has(keyOf(verdict))) continue;
    batch.push(store.append(recordOf(verdict, options)));
    if (batch.length < BATCH) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
  const experiments = [...plan].map(([name, { counts }]) => ({ name, ...counts }));
  for (const { name, cases } of experiments) {
    await store.writeStatus({
      version: 1,
      run_id: runId,
      experiment: name,
      state: 'done',
      planned: cases,
      done: cases,
      failed: 0,
      fingerprint: sha256.slice(0, 16),
      started_at: startedAt,
      updated_at: startedAt,
    });
  }
  return { sha256, experiments };
}

function otherRecords(file: string, experiment: string): HeamsError {
  return new HeamsError(`the output folder holds records of "${experiment}" that are not of this file`, {
    code: 'import_other_records',
    where: { file },
    hint: 'choose another --output-dir',
  });
}
