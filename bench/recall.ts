import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { builtinRegistry } from '../src/config/registry.ts';
import type { CallContext } from '../src/contracts/call.ts';
import type { MemoryBackend, MemoryScope } from '../src/contracts/memory.ts';
import type { PluginContext } from '../src/contracts/plugin.ts';
import { systemClock } from '../src/lib/clock.ts';

export interface Pair {
  fact: string;
  question: string;
}

/** 20 facts, and for each a question that says it in other words. */
export async function paraphrases(): Promise<Pair[]> {
  return JSON.parse(await readFile(new URL('paraphrases.json', import.meta.url), 'utf8')) as Pair[];
}

/** The keyless backends, with what of their options the count depends on. */
const arms = [
  { arm: 'bm25', file: { backend: 'bm25' } },
  { arm: 'sqlite', file: { backend: 'sqlite' } },
  { arm: 'sqlite, porter', file: { backend: 'sqlite', tokenizer: 'porter' } },
  { arm: 'sqlite, trigram', file: { backend: 'sqlite', tokenizer: 'trigram' } },
  { arm: 'file_memory', file: { backend: 'file_memory' } },
  { arm: 'hybrid', file: { backend: 'hybrid' } },
  { arm: 'vector', file: { backend: 'vector' } },
] as const;

const noModel = () => Promise.reject(new Error('this measurement asks no model of a provider'));
const context: PluginContext = {
  model: noModel,
  embedder: noModel,
  clock: systemClock,
  seed: 0,
  env: {},
  resolve: (path) => path,
  folders: { datasets: '', shipped: '' },
};
const call: CallContext = {
  signal: new AbortController().signal,
  stage: 'prime',
  meter: { add: () => {} },
  salt: 'recall',
  job: 'recall',
};

async function open(file: { backend: string }): Promise<MemoryBackend> {
  const plugin = await builtinRegistry.memories[file.backend]?.();
  if (!plugin) throw new Error(`there is no backend ${file.backend}`);
  return plugin.create(plugin.schema.parse(file), context);
}

/** How many questions have their own fact among the first `k` items. */
async function found(scope: MemoryScope, pairs: readonly Pair[], k: number): Promise<number> {
  let hits = 0;
  for (const [i, { question }] of pairs.entries()) {
    const { items } = await scope.search(question, k);
    if (items.some(({ fact_ids }) => fact_ids.includes(`f${i}`))) hits += 1;
  }
  return hits;
}

export interface RecallCount {
  arm: string;
  of: number;
  at1: number;
  at3: number;
}

/** Recall of every keyless backend on the paraphrased questions, over one pool of all facts. */
export async function recallCounts(): Promise<RecallCount[]> {
  const pairs = await paraphrases();
  const counts: RecallCount[] = [];
  for (const { arm, file } of arms) {
    const backend = await open(file);
    const scope = await backend.open('recall', call);
    await scope.write(pairs.map(({ fact }, i) => ({ id: `f${i}`, key: `fact ${i}`, text: fact })));
    await scope.ready(call.signal);
    counts.push({ arm, of: pairs.length, at1: await found(scope, pairs, 1), at3: await found(scope, pairs, 3) });
    await scope.dispose();
    await backend.close();
  }
  return counts;
}

/** `npm run bench:recall` prints the table of docs/memory-backends.md. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log('| backend | k = 1 | k = 3 |\n|---|--:|--:|');
  for (const { arm, of, at1, at3 } of await recallCounts())
    console.log(`| ${arm} | ${at1} of ${of} | ${at3} of ${of} |`);
}
