import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection, Table } from '@lancedb/lancedb';
import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { loadPackage } from '../lib/optional-package.ts';
import { outcomeShaping } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { embeddingModels, embeddingShape, needsProvider, openEmbedder } from './embedder.ts';
import { badEmbedding, directionsOf } from './index/directions.ts';
import { searchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';
import { refuseUnstorable } from './storable-text.ts';

const LANCEDB = { name: '@lancedb/lancedb', install: '@lancedb/lancedb@0.31' } as const;

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('lancedb'),
    ...searchShape,
    ...embeddingShape,
    /** Where the tables are, relative to this file; a temporary folder that goes with the run where absent. */
    folder: z
      .string()
      .min(1)
      .refine((path) => !path.includes('://'), 'a folder on this machine: tables elsewhere are out of reach here')
      .optional(),
  })
  .superRefine(needsProvider);
export type LancedbOptions = z.infer<typeof schema>;

/** What went wrong inside the library, without the places in its source that it appends. */
function lancedbError(error: unknown): unknown {
  if (error instanceof HeamsError) return error;
  const [said = ''] = messageOf(error).split(/, \/|\n/);
  return new HeamsError(`LanceDB could not do what was asked: ${said.slice(0, 300)}`, {
    code: 'memory_database_error',
    hint: 'two runs of the same config at once need a `folder` each',
  });
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw lancedbError(error);
  }
}

interface Row {
  seq: number;
  fact_id: string;
  text: string;
}

const columns = ['seq', 'fact_id', 'text'];
/** More tables than one scope can have, were every run of it killed. */
const MANY = 1000;

interface ScopeParts {
  db: Connection;
  embedder: EmbeddingModel;
  call: CallContext;
}

const tablesOf = async (db: Connection, prefix: string): Promise<string[]> =>
  (await db.tableNames({ startAfter: prefix, limit: MANY })).filter((name) => name.startsWith(prefix));

/** Removes the tables of a prefix; a table that somebody else removed at the same time is as good. */
async function dropTables(db: Connection, prefix: string): Promise<void> {
  for (const name of await tablesOf(db, prefix)) {
    try {
      await db.dropTable(name);
    } catch (error) {
      if ((await tablesOf(db, prefix)).includes(name)) throw error;
    }
  }
}

async function rowsOf(table: Table): Promise<Row[]> {
  const rows = (await table.query().select(columns).toArray()) as Row[];
  return rows.sort((a, b) => a.seq - b.seq);
}

/**
 * One scope: a table of its own. In a table of all scopes each write and each deletion would be a version that lists
 * every file; with a table each, scopes share nothing, and a deletion takes the files away.
 */
async function openScope({ db, embedder, call }: ScopeParts, scopeId: string): Promise<ServiceStore> {
  const prefix = `heams_${sha256(scopeId).slice(0, 32)}_`;
  await dropTables(db, prefix);
  // No other opening of the scope has this name, so that two processes can never write to one table.
  const own = `${prefix}${randomBytes(6).toString('hex')}`;
  const name = `${own}_facts`;
  let table: Table | undefined;
  let dimensions: number | undefined;
  let written = 0;

  async function directions(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    const found = await directionsOf(embedder, texts, call);
    dimensions ??= found.dimensions;
    if (found.dimensions === dimensions) return found.vectors;
    throw badEmbedding(embedder.id, `${dimensions} dimensions`, `${found.dimensions}`);
  }

  return {
    async add(facts: readonly Fact[]) {
      refuseUnstorable(facts, { system: 'LanceDB' });
      const vectors = await directions(facts.map((fact) => fact.text));
      const rows = facts.map((fact, i) => ({
        seq: written + i,
        fact_id: fact.id,
        text: fact.text,
        told_at: fact.at ?? '',
        session: fact.session ?? '',
        // LanceDB finds no vector of length 0 by its cosine.
        vector: Array.from(vectors[i] ?? new Float32Array(dimensions ?? 0)),
      }));
      await told(async () => {
        if (table) await table.add(rows);
        else table = await db.createTable(name, rows);
      });
      written += facts.length;
    },

    async all() {
      const rows = await told(async () => {
        if (table) return rowsOf(table);
        const [left] = await tablesOf(db, own);
        return left === undefined ? [] : rowsOf(await db.openTable(left));
      });
      return rows.map(({ fact_id, text }) => ({ text, fact_ids: [fact_id] }));
    },

    async find(query, k) {
      if (!table) return { items: [] };
      const [wanted] = await directions([query]);
      if (!wanted) return { items: [] };
      const search = table.vectorSearch(wanted).distanceType('cosine').limit(written);
      // Every fact is looked at, and all of them come back: equal distances are told apart by the order of writing.
      const rows = await told(async () => (await search.select([...columns, '_distance']).toArray()) as FoundRow[]);
      const found = rows.filter((row) => Number.isFinite(row._distance));
      found.sort((a, b) => a._distance - b._distance || a.seq - b.seq);
      const items = found.slice(0, k);
      return {
        items: items.map(({ fact_id, text, _distance }) => ({ text, fact_ids: [fact_id], score: 1 - _distance })),
      };
    },

    async clear() {
      table?.close();
      table = undefined;
      written = 0;
      await told(() => dropTables(db, own));
    },
  };
}

interface FoundRow extends Row {
  _distance: number;
}

/** The folder, made where it is not there, and what removes it again where it is temporary. */
async function folderFor(given: string | undefined): Promise<{ folder: string; remove(): Promise<void> }> {
  if (given !== undefined) {
    await mkdir(given, { recursive: true });
    return { folder: given, remove: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), 'heams-lancedb-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Search by meaning in LanceDB, in a folder: the cosine of sentence embeddings, over every fact of the scope. */
export const lancedb: MemoryPlugin<LancedbOptions> = {
  name: 'lancedb',
  summary: 'search by meaning in LanceDB, in a folder',
  needs: 'the package @lancedb/lancedb',
  schema,
  models: embeddingModels,
  requires: () => [{ kind: 'package', ...LANCEDB }],
  identity({ folder: _, ...options }) {
    return outcomeShaping(options);
  },
  inlined: (options, resolve) => (options.folder ? { ...options, folder: resolve(options.folder) } : options),
  async create(options, context) {
    const { connect } = await loadPackage(LANCEDB, () => import('@lancedb/lancedb'));
    const given = options.folder === undefined ? undefined : context.resolve(options.folder);
    const { folder, remove } = await folderFor(given).catch((error: unknown) => {
      throw new HeamsError(`the folder of LanceDB cannot be made: ${messageOf(error)}`, {
        code: 'memory_folder',
        hint: 'name another `folder`',
      });
    });
    const db = await told(() => connect(folder));
    const { embedder, capabilities, close } = await openEmbedder(options, context);
    return serviceBackend({
      name: 'lancedb',
      topK: options.top_k,
      clock: context.clock,
      capabilities: { stores: true, rewrites: false, provenance: true, honours_k: true, ...capabilities },
      open: (scopeId, call) => told(() => openScope({ db, embedder, call }, scopeId)),
      async close() {
        db.close();
        await Promise.all([close(), remove()]);
      },
    });
  },
};
