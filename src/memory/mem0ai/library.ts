import type { Memory } from 'mem0ai/oss';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { isInstalled, loadPackage, notInstalled, type OptionalPackage } from '../../lib/optional-package.ts';
import type { Mem0Models } from './models.ts';
import { keepMem0Quiet } from './quiet.ts';

/** mem0 in this process keeps its vectors in SQLite, through a native package that it does not bring along. */
const install = 'mem0ai@3 better-sqlite3@12';
export const mem0Packages: readonly OptionalPackage[] = [
  { name: 'mem0ai/oss', install },
  { name: 'better-sqlite3', install },
];

export type Mem0Library = typeof import('mem0ai/oss');

/** @throws HeamsError `package_not_installed`. */
export async function loadMem0(): Promise<Mem0Library> {
  for (const one of mem0Packages) if (!isInstalled(one)) throw notInstalled(one);
  keepMem0Quiet();
  return loadPackage(mem0Packages[0] as OptionalPackage, () => import('mem0ai/oss'));
}

interface Handle {
  close?(): void;
}

/** What of a memory mem0 has no public name for, and HEAMS needs: its models, its store, its databases. */
interface Inside {
  llm: unknown;
  embedder: unknown;
  vectorStore: { search(query: number[], k?: number, filters?: object): Promise<Hit[]>; db?: Handle };
  _entityStore?: { db?: Handle };
  db: Handle;
}

interface Hit {
  id: string;
  payload: Record<string, unknown>;
  score?: number;
}

export interface Mem0Parts {
  models: Mem0Models;
  infer: boolean;
  instructions: string | undefined;
}

/** A memory of its own, all of it in this process's main memory: two scopes cannot meet, and nothing is written. */
export function openMem0({ Memory }: Mem0Library, { models, infer, instructions }: Mem0Parts): Memory {
  const unused = { invoke: () => {}, embedQuery: () => {}, embedDocuments: () => {} };
  const memory = new Memory({
    // Stand-ins: an adapter of mem0's own would bring a client, or packages, that are not wanted here.
    embedder: { provider: 'langchain', config: { model: unused } },
    llm: { provider: 'langchain', config: { model: unused } },
    vectorStore: { provider: 'memory', config: { dbPath: ':memory:', dimension: models.dimension() } },
    historyStore: { provider: 'sqlite', config: { historyDbPath: ':memory:' } },
    // The history is what an extraction reads the last messages from; else nobody reads it.
    disableHistory: !infer,
    ...(instructions === undefined ? {} : { customInstructions: instructions }),
  });
  const inside = memory as unknown as Inside;
  inside.llm = models.llm;
  inside.embedder = models.embedder;
  const { vectorStore } = inside;
  const search = vectorStore.search.bind(vectorStore);
  // mem0 drops what scores below its threshold, and takes none below 0: a fact that points away from the query would be
  // dropped whatever k is. The order stays as it is, so that equal scores do too.
  vectorStore.search = async (...asked) =>
    (await search(...asked)).map((hit) => ({ ...hit, score: Math.max(0, hit.score || 0) }));
  return memory;
}

/**
 * Forgets everything, looks how much is left, and gives the databases back, which mem0 leaves to the garbage collector.
 */
export async function forgetMem0(memory: Memory, left: () => Promise<number>): Promise<number> {
  const inside = memory as unknown as Inside;
  const handles = [inside.vectorStore.db, inside._entityStore?.db];
  await memory.reset();
  const count = await left();
  for (const handle of [...handles, inside.vectorStore.db, inside.db]) handle?.close?.();
  return count;
}

/** What mem0 threw, as an error with a code. */
export function mem0Error(error: unknown): Error {
  if (error instanceof HeamsError) return error;
  const message = messageOf(error);
  return new HeamsError(`mem0: ${message.slice(0, 300)}`, { code: 'memory_failed', cause: error });
}
