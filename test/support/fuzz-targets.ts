import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import {
  booleanAt,
  parseAnswer,
  parseAnswers,
  ratingAt,
} from '../../src/benchmarks/contextual-integrity/parse-reply.ts';
import { toSample } from '../../src/benchmarks/contextual-integrity/rows.ts';
import { fingerprintOf, runIdentity } from '../../src/config/identity.ts';
import { loadRun } from '../../src/config/load-run.ts';
import { builtinRegistry } from '../../src/config/registry.ts';
import { previousConfig, writeRunConfigs } from '../../src/config/written-config.ts';
import { HeamsError } from '../../src/lib/errors.ts';
import { canonicalJson } from '../../src/lib/hash.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { packageRoot } from '../../src/lib/shipped.ts';
import { parseRecord, recordLine } from '../../src/store/records.ts';
import { fakeDone, fakeFailed } from './fake-records.ts';
import { mutateText, mutateValue } from './fuzz-mutate.ts';
import { sharedData } from './shared-data.ts';

/** What became of one input; anything thrown is a finding. */
export type Outcome = 'accepted' | 'refused';
/** Makes an input from its number and tries it. `input` is called before the trial, so that a hang can be named. */
export type Target = (random: Random, input: (text: string) => void) => Outcome | Promise<Outcome>;
export interface Targets {
  all: Readonly<Record<string, Target>>;
  close(): Promise<void>;
}

const pick = <T>(items: readonly T[], random: Random): T => items[Math.floor(random() * items.length)] as T;

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`silent acceptance: ${what}`);
}

/** A HeamsError is a refusal; it must be able to say what is wrong. Anything else is thrown on. */
function refused(error: unknown): Outcome {
  if (!(error instanceof HeamsError)) throw error;
  error.describe();
  return 'refused';
}

const judgeReplies = [
  '{"reasoning": "It names the drug.", "evidence": "Eutirox", "verdict": true}',
  'Sure.\n```json\n{"reasoning": "Not said.", "verdict": false}\n```',
  '<think>{"verdict": false}</think>{"reasoning": "a \\"quoted\\" word", "verdict": "yes"}',
  '{"rating": "Good", "reasoning": "clear"}',
  '{"verdicts": [{"number": 1, "verdict": true}, {"number": 2, "verdict": false, "reasoning": "no"}]}',
];

/** Every value that stands in the text right after the key, outside any thought of ours about JSON. */
function valuesSaid(text: string, key: string): Set<string> {
  const found = text.matchAll(new RegExp(`"${key}"\\s*:\\s*"?\\s*([A-Za-z0-9]+)`, 'g'));
  return new Set([...found].map((match) => (match[1] as string).toLowerCase()));
}

const words: Readonly<Record<string, readonly string[]>> = {
  true: ['true', 'yes'],
  false: ['false', 'no'],
  0: ['poor', '0'],
  1: ['unsatisfactory', '1'],
  2: ['good', '2'],
  3: ['excellent', '3'],
};

const judgeReply: Target = (random, input) => {
  const text = mutateText(pick(judgeReplies, random), random);
  input(text);
  const parsed = [
    ['verdict', parseAnswer(text, booleanAt('verdict'))] as const,
    ['rating', parseAnswer(text, ratingAt('rating'))] as const,
    ...[...parseAnswers(text, booleanAt('verdict'), [1, 2]).values()].map((one) => ['verdict', one] as const),
  ];
  for (const [key, one] of parsed) {
    if (!one.ok) continue;
    // Escapes may spell the key or the value another way; that is not noise of ours to judge.
    if (/\\u/.test(text)) continue;
    const said = valuesSaid(text, key);
    const meant = words[String(one.answer.value)] ?? [];
    must(
      meant.some((word) => [...said].some((one) => one === word || (/^\d/.test(word) && Number(one) === Number(word)))),
      `${key} ${one.answer.value}`,
    );
  }
  return parsed.some(([, one]) => one.ok) ? 'accepted' : 'refused';
};

const recordLines = [
  recordLine(fakeDone({ id: 'ci-0001', secrets: ['yes', 'no', 'open'], fields: ['yes', 'missing'], score: 2 })),
  recordLine(fakeFailed({ id: 'ci-0002', error: { code: 'model_network' } })),
].map((line) => line.trimEnd());

const recordTarget: Target = (random, input) => {
  const line = pick(recordLines, random);
  const text =
    random() < 0.5 ? mutateText(line, random) : (JSON.stringify(mutateValue(JSON.parse(line), random)) ?? '');
  input(text);
  try {
    const record = parseRecord(Buffer.from(text), 'runs.jsonl', 1);
    const again = parseRecord(Buffer.from(recordLine(record).trimEnd()), 'runs.jsonl', 1);
    must(canonicalJson(again) === canonicalJson(record), 'the record does not round-trip');
    return 'accepted';
  } catch (error) {
    return refused(error);
  }
};

async function rowsToMutate(): Promise<unknown[]> {
  const bundled = await readFile(join(packageRoot(), 'datasets/heams_scenarios/scenarios.jsonl'), 'utf8');
  const rows: unknown[] = bundled
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  if (sharedData === undefined) return rows;
  const real = JSON.parse(await readFile(join(sharedData, 'contextual_integrity_729.json'), 'utf8'));
  return Array.isArray(real) ? [...rows, ...real] : rows;
}

/** The row with one of its texts nested far deeper than a walk by recursion can go. */
function deepened(row: unknown, random: Random): string {
  const text = JSON.stringify(row);
  const values = [...text.matchAll(/:"[^"\\]*"/g)];
  const at = pick(values, random);
  const depth = pick([400, 499, 600, 3_000, 20_000], random);
  const inner = `:${'['.repeat(depth)}"x"${']'.repeat(depth)}`;
  return text.slice(0, at.index) + inner + text.slice(at.index + at[0].length);
}

const rowTarget =
  (rows: readonly unknown[]): Target =>
  (random, input) => {
    const row = pick(rows, random);
    const text = random() < 0.2 ? deepened(row, random) : (JSON.stringify(mutateValue(row, random)) ?? 'null');
    input(text);
    try {
      const value: unknown = JSON.parse(text);
      const [once, again] = [0, 1].map(() => toSample(value, 3, { seed: 1, where: { file: 'rows.jsonl' } }));
      must(once?.hash === again?.hash, 'a row gives two samples');
      const { information, annotation } = (value as { dataset_item: Record<string, object> }).dataset_item;
      must(once?.facts.length === Object.keys(information ?? {}).length, 'facts are lost');
      const { allowed = {}, disallowed = {} } = annotation as { allowed?: object; disallowed?: object };
      must(once?.data.fields.length === Object.keys(allowed).length, 'fields are lost');
      must(once?.data.secrets.length === Object.keys(disallowed).length, 'secrets are lost');
      return 'accepted';
    } catch (error) {
      return refused(error);
    }
  };

/** Shipped components in one run file, so that a mutation may hit any of them. */
async function configsToMutate(): Promise<string[]> {
  const shipped = async (name: string) => parse(await readFile(join(packageRoot(), 'configs', name), 'utf8')) as object;
  const benchmark = await shipped('benchmarks/bundled/contextual_integrity.yaml');
  const agents = ['assistant', 'assistant_tool', 'assistant_notes', 'http', 'silent'];
  const memories = ['bm25', 'full_context', 'file_memory', 'http', 'no_memory'];
  const defences = ['privacy_prompt', 'minimiser', 'redact_identifiers', 'recipient_gate', 'output_guard'];
  return Promise.all(
    agents.map(async (agent, i) => {
      const arm = {
        name: 'arm',
        agent: await shipped(`agents/${agent}.yaml`),
        memory: await shipped(`memory/${memories[i]}.yaml`),
        ...(agent.startsWith('assistant') ? { defence: await shipped(`defences/${defences[i]}.yaml`) } : {}),
      };
      return JSON.stringify({ name: 'fuzz', seed: 1, benchmark, experiments: [arm] }, null, 1);
    }),
  );
}

const configTarget =
  (configs: readonly string[], dir: string): Target =>
  async (random, input) => {
    const text = pick(configs, random);
    const changed = random() < 0.4 ? mutateText(text, random) : JSON.stringify(mutateValue(JSON.parse(text), random));
    input(changed);
    const file = join(dir, 'run.yaml');
    await writeFile(file, changed);
    try {
      const run = await loadRun(file, builtinRegistry);
      const identity = runIdentity(run, {});
      const out = await mkdtemp(join(dir, 'out-'));
      const note = { run_id: 'r1', version: '0.1.0', created_at: '2026-01-01T00:00:00.000Z' };
      await writeRunConfigs(
        run,
        [],
        { ...note, fingerprint: fingerprintOf(identity), dataset: {} },
        {
          dir: out,
          experimentDir: (name) => join(out, name),
        },
      );
      const again = await loadRun((await previousConfig(out)) as string, builtinRegistry);
      must(canonicalJson(runIdentity(again, {})) === canonicalJson(identity), 'the written config is another run');
      await rm(out, { recursive: true });
      return 'accepted';
    } catch (error) {
      return refused(error);
    }
  };

/** The parsers of everything that comes from outside, each with its own mutations. */
export async function fuzzTargets(): Promise<Targets> {
  const dir = await mkdtemp(join(tmpdir(), 'heams-fuzz-'));
  return {
    all: {
      config: configTarget(await configsToMutate(), dir),
      row: rowTarget(await rowsToMutate()),
      record: recordTarget,
      judge: judgeReply,
    },
    close: () => rm(dir, { recursive: true, force: true }),
  };
}

/** The randomness of one input: any one can be made again from its target, seed and number. */
export const randomOf = (target: string, seed: number, n: number): Random => seededRandom('fuzz', target, seed, n);
