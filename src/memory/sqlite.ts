import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { outcomeShaping } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { searchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';
import { type Connection, dropScopes, IN_MEMORY, indexOf, openDatabase } from './sqlite/database.ts';
import { fullTextQuery, indexable, type Tokenizer, tokenizeOption, tokenizers } from './sqlite/full-text-query.ts';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('sqlite'),
  ...searchShape,
  /**
   * The database, relative to this file; it is made where it is not there. `:memory:` for none on disk. Absent: a file
   * in a temporary folder that goes with the run.
   */
  file: z.string().min(1).optional(),
  /** `unicode61`: words. `porter`: words by their English stems. `trigram`: any three characters, for any script. */
  tokenizer: z.enum(tokenizers).default('unicode61'),
});
export type SqliteOptions = z.infer<typeof schema>;

interface StoredFact {
  id: string;
  text: string;
}

/**
 * One scope: its rows in the table of facts, and a full-text index of its own. FTS5 ranks by how many texts of the
 * whole index hold a word, so an index of all scopes would let other people's facts move the ranks of these.
 */
function openScope(db: Connection, name: string, tokenizer: Tokenizer): ServiceStore {
  dropScopes(db, 'SELECT id FROM scopes WHERE name = ?', [name]);
  const id = db.transaction(() => {
    db.run('INSERT INTO scopes (name) VALUES (?)', [name]);
    const made = Number(db.all('SELECT last_insert_rowid() AS id')[0]?.id);
    // Facts are in their own table: the index keeps no copy.
    const options = `content='', tokenize="${tokenizeOption[tokenizer]}"`;
    db.run(`CREATE VIRTUAL TABLE ${indexOf(made)} USING fts5(text, ${options})`);
    return made;
  });
  db.live.add(id);
  const index = indexOf(id);
  let written = 0;
  const stored = (fact: unknown): StoredFact => JSON.parse(String(fact)) as StoredFact;

  return {
    async add(facts: readonly Fact[]) {
      db.transaction(() => {
        for (const [i, { id: factId, text }] of facts.entries()) {
          // As JSON any text comes back as it was: SQLite's own would end at a NUL.
          const fact = JSON.stringify({ id: factId, text } satisfies StoredFact);
          db.run('INSERT INTO facts (scope, position, fact) VALUES (?, ?, ?)', [id, written + i, fact]);
          db.run(`INSERT INTO ${index} (rowid, text) VALUES (?, ?)`, [written + i, indexable(text)]);
        }
      });
      written += facts.length;
    },

    async all() {
      const rows = db.all('SELECT fact FROM facts WHERE scope = ? ORDER BY position', [id]);
      return rows.map(({ fact }) => {
        const { id: factId, text } = stored(fact);
        return { text, fact_ids: [factId] };
      });
    },

    async find(query, k) {
      const match = fullTextQuery(query, tokenizer);
      if (match === undefined) return { items: [] };
      const found = db.all(
        `SELECT rowid AS position, rank FROM ${index} WHERE ${index} MATCH ? ORDER BY rank, rowid LIMIT ?`,
        [match, k],
      );
      const items = found.map(({ position, rank }) => {
        const [row] = db.all('SELECT fact FROM facts WHERE scope = ? AND position = ?', [id, Number(position)]);
        const { id: factId, text } = stored(row?.fact);
        // FTS5's rank is the negative of BM25.
        return { text, fact_ids: [factId], score: -Number(rank) };
      });
      return { items };
    },

    async clear() {
      db.live.delete(id);
      dropScopes(db, 'SELECT id FROM scopes WHERE id = ?', [id]);
      const left = db.all('SELECT name FROM sqlite_schema WHERE name = ? OR name GLOB ?', [index, `${index}_*`]);
      if (left.length > 0) throw new Error(`the full-text index ${index} is still in the file`);
    },
  };
}

/** Where the database is, and what takes it away again where it is temporary. */
async function placeFor(given: string | undefined): Promise<{ file: string; remove(): Promise<void> }> {
  if (given !== undefined) return { file: given, remove: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'heams-sqlite-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  return { file: join(folder, 'memory.sqlite'), remove };
}

/** Full-text search in an SQLite file (FTS5, BM25). It finds words, as `bm25` does; it may find fewer than `top_k`. */
export const sqlite: MemoryPlugin<SqliteOptions> = {
  name: 'sqlite',
  summary: 'full-text search in an SQLite file (FTS5)',
  needs: 'nothing',
  schema,
  identity: ({ file: _, ...options }) => outcomeShaping(options),
  inlined: (options, resolve) =>
    options.file === undefined || options.file === IN_MEMORY ? options : { ...options, file: resolve(options.file) },
  async create(options, context) {
    const onDisk =
      options.file === undefined || options.file === IN_MEMORY ? options.file : context.resolve(options.file);
    const { file, remove } = await placeFor(onDisk);
    const db = await openDatabase(file, new Date(context.clock.now()).toISOString()).catch(async (error: unknown) => {
      await remove();
      throw error;
    });
    return serviceBackend({
      name: 'sqlite',
      topK: options.top_k,
      clock: context.clock,
      capabilities: {
        stores: true,
        rewrites: false,
        provenance: true,
        honours_k: true,
        needs_network: false,
        needs_key: false,
      },
      open: async (scopeId) => openScope(db, scopeId, options.tokenizer),
      async close() {
        await db.close();
        await remove();
      },
    });
  },
};
