import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { executeRun } from '../src/config/execute-run.ts';
import { loadRun } from '../src/config/load-run.ts';
import { builtinRegistry } from '../src/config/registry.ts';
import { packageRoot } from '../src/lib/shipped.ts';
import type { SampleRecord } from '../src/schema/record.ts';
import { readRecords } from '../src/store/records.ts';
import { startPglite } from '../test/support/pglite.ts';
import { postgresIsHere, startPostgres } from '../test/support/postgres.ts';
import { makeProject, testHost } from '../test/support/project.ts';
import { sharedData } from '../test/support/shared-data.ts';
import { spawnLoopback } from '../test/support/spawn-loopback.ts';

/**
 * Memory systems over the real rows, each in a process of its own: what was stored, recalled and failed, how long it took,
 * and the peak of its memory. `npm run bench:memory -- lancedb path/to/memory.yaml --concurrency 16 --limit 100`
 *
 * A name without a slash is a shipped config. Where DATABASE_URL is not set, configs that ask for it get a PostgreSQL
 * server of their own, and `pgvector` PGlite. With `--loopback` a server on this machine embeds, with short vectors of
 * hashed words, in place of the built-in encoder: what is left is the memory's own time. A table on standard error, JSON on
 * standard output.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string', default: '16' },
    limit: { type: 'string' },
    loopback: { type: 'boolean', default: false },
    /** What the parent tells its children: the config to measure, and what to change in it. */
    measure: { type: 'string' },
    change: { type: 'string', default: '{}' },
    pglite: { type: 'boolean', default: false },
  },
});
const DEFAULT = ['no_memory', 'vector', 'pgvector', 'postgres_text', 'lancedb', 'langgraph_store'];
const self = fileURLToPath(import.meta.url);

interface Measured {
  memory: string;
  backend: string;
  samples: number;
  done: number;
  failed: number;
  /** Failed samples by the code of their error. */
  failures: Record<string, number>;
  facts: number;
  stored_items: number;
  recalled_items: number;
  wall_s: number;
  peak_rss_mb: number;
}

async function counted(
  records: AsyncIterable<SampleRecord>,
): Promise<Omit<Measured, 'memory' | 'wall_s' | 'peak_rss_mb'>> {
  const sums = { backend: '', samples: 0, done: 0, failed: 0, failures: {} as Record<string, number> };
  const counts = { facts: 0, stored_items: 0, recalled_items: 0 };
  for await (const record of records) {
    sums.backend = record.backend;
    sums.samples += 1;
    counts.facts += record.facts.length;
    counts.stored_items += record.stored?.length ?? 0;
    for (const { items } of record.reply?.recalls ?? []) counts.recalled_items += items.length;
    if (record.status === 'done') sums.done += 1;
    else {
      sums.failed += 1;
      sums.failures[record.error.code] = (sums.failures[record.error.code] ?? 0) + 1;
    }
  }
  return { ...sums, ...counts };
}

/** One memory over all rows with the `dump` agent and the string judge: no model is asked but for embeddings. */
async function measure(memory: string, change: object): Promise<Measured> {
  const limit = values.limit === undefined ? {} : { limit: Number(values.limit) };
  const file = join(sharedData as string, 'contextual_integrity_729.json');
  const changed = Object.keys(change).length > 0;
  const one = changed ? { memory: { ...(await memoryFile(memory)), ...change } } : { memory_config_file: memory };
  const project = await makeProject({
    'run.yaml': {
      name: 'memory-systems',
      benchmark: {
        benchmark: 'contextual_integrity',
        dataset: { file, ...limit },
        user_task_prompt: '{{ user_task }}',
        evaluator: { type: 'ci_string_match' },
      },
      concurrency: Number(values.concurrency),
      experiments: [{ name: 'arm', agent: { kind: 'dump' }, ...one }],
    },
  });
  try {
    const never = new AbortController().signal;
    const host = { ...testHost(project.dir), env: process.env };
    const run = await loadRun(project.path('run.yaml'), builtinRegistry);
    let since = 0;
    await executeRun({
      run,
      host,
      outputDir: project.path('results'),
      stop: never,
      signal: never,
      onPlan: () => {
        since = performance.now();
      },
    });
    const wall = (performance.now() - since) / 1000;
    const counts = await counted(readRecords(project.path('results/arm/runs.jsonl')));
    return { memory, ...counts, wall_s: wall, peak_rss_mb: process.resourceUsage().maxRSS / 1024 };
  } finally {
    await project.remove();
  }
}

const memoryFile = async (path: string) => parse(await readFile(path, 'utf8')) as Record<string, unknown>;

/** Runs this script again and gives what it prints, line by line, to `onLine`. */
function child(args: string[], env: Record<string, string>, onLine: (line: string) => void) {
  const started = spawn(process.execPath, ['--import', 'tsx', self, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let rest = '';
  started.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) onLine(line);
  });
  return { process: started, ended: new Promise<number | null>((done) => started.once('close', done)) };
}

/** The database for a config that asks for one, where the environment names none. */
async function databaseFor(
  backend: unknown,
): Promise<{ url: string; pglite: boolean; stop(): Promise<void> } | undefined> {
  if (backend === 'pgvector') {
    let told = (_url: string) => {};
    const url = new Promise<string>((resolve) => {
      told = resolve;
    });
    const server = child(['--pglite'], {}, (line) => told(line));
    const stop = async () => {
      server.process.kill();
      await server.ended;
    };
    return { url: await url, pglite: true, stop };
  }
  if (!postgresIsHere) return undefined;
  const server = await startPostgres();
  return { url: server.url(), pglite: false, stop: server.stop };
}

async function measuredApart(path: string, embeddings?: string): Promise<Measured | undefined> {
  const { backend, url_env: urlEnv, embedding_model_id: embeds } = await memoryFile(path);
  const wanted = urlEnv === 'DATABASE_URL' && process.env.DATABASE_URL === undefined;
  const database = wanted ? await databaseFor(backend) : undefined;
  try {
    if (wanted && !database) {
      console.error(`${path}: skipped: PostgreSQL is not here, and DATABASE_URL is not set`);
      return undefined;
    }
    const change = {
      ...(database?.pglite ? { pool_size: 1 } : {}),
      ...(embeds && embeddings ? { embedding_model_id: 'openai-compatible:loopback', base_url: embeddings } : {}),
    };
    const args = ['--measure', path, '--change', JSON.stringify(change), '--concurrency', values.concurrency];
    if (values.limit !== undefined) args.push('--limit', values.limit);
    let result: Measured | undefined;
    const run = child(args, database ? { DATABASE_URL: database.url } : {}, (line) => {
      if (line.startsWith('{"memory":')) result = JSON.parse(line) as Measured;
    });
    if ((await run.ended) !== 0 || !result) console.error(`${path}: could not be measured`);
    return result;
  } finally {
    await database?.stop();
  }
}

function shown(results: readonly Measured[]): string {
  const head = ['backend', 'samples', 'done', 'failed', 'facts', 'stored', 'recalled', 'wall s', 'peak MB'];
  const rows = results.map((one) => [
    one.backend,
    ...[one.samples, one.done, one.failed, one.facts, one.stored_items, one.recalled_items].map(String),
    one.wall_s.toFixed(1),
    one.peak_rss_mb.toFixed(0),
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => (row[i] as string).length)));
  const line = (row: string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number))).join('  ');
  return [head, ...rows].map(line).join('\n');
}

if (values.measure !== undefined) {
  console.log(JSON.stringify(await measure(values.measure, JSON.parse(values.change))));
} else if (values.pglite) {
  console.log((await startPglite()).url);
} else if (!sharedData) {
  console.error('skipped: the real rows are not beside the repository');
} else {
  const results: Measured[] = [];
  const embeddings = values.loopback ? await spawnLoopback() : undefined;
  for (const name of positionals.length > 0 ? positionals : DEFAULT) {
    const path = name.includes('/') ? resolve(name) : join(packageRoot(), 'configs/memory', `${name}.yaml`);
    if (!existsSync(path)) throw new Error(`no such memory config: ${path}`);
    const result = await measuredApart(path, embeddings?.baseUrl);
    if (result) results.push(result);
    if (result && result.failed > 0) console.error(`${name}: failed: ${JSON.stringify(result.failures)}`);
  }
  await embeddings?.close();
  console.error(shown(results));
  console.log(
    JSON.stringify({ node: process.version, platform: `${process.platform} ${process.arch}`, results }, null, 2),
  );
}
