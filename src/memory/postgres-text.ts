import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { namingShape } from '../schema/naming.ts';
import { searchShape } from './options.ts';
import type { Query } from './postgres/database.ts';
import { needsAddress, postgresRequirements, postgresShape, withoutPlace } from './postgres/options.ts';
import { postgresBackend } from './postgres/postgres-backend.ts';
import type { SearchColumn } from './postgres/scoped-table.ts';

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('postgres_text'),
    ...searchShape,
    ...postgresShape,
    /** One of the server's text search configurations: which words are left out, and how the others are stemmed. */
    language: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'the name of a text search configuration, such as english or simple')
      .default('english'),
  })
  .superRefine(needsAddress);
export type PostgresTextOptions = z.infer<typeof schema>;

/**
 * The query's words joined by "or": a task is long, and a fact that shares one word with it is found. A word may hold
 * quotes and backslashes, which are doubled.
 */
const anyWord = (language: string) => `(SELECT coalesce(string_agg(
  '''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''', ' | '), '')::tsquery AS words
  FROM unnest(to_tsvector(${language}, $3)))`;

async function textColumn(query: Query, language: string): Promise<SearchColumn> {
  const [known] = await query<{ there: boolean }>(
    'SELECT EXISTS (SELECT FROM pg_ts_config WHERE cfgname = $1) AS there',
    [language],
  );
  if (!known?.there) {
    const rows = await query<{ cfgname: string }>('SELECT cfgname FROM pg_ts_config ORDER BY cfgname');
    throw new HeamsError(`the PostgreSQL server has no text search configuration "${language}"`, {
      code: 'memory_language_missing',
      expected: `one of: ${rows.map(({ cfgname }) => cfgname).join(', ')}`,
      found: language,
    });
  }
  const config = `'"${language}"'::regconfig`;
  return {
    name: 'words',
    declaration: 'words tsvector NOT NULL',
    value: `to_tsvector(${config}, new_row.text)`,
    match: async (asked) => ({
      // No word has a NUL in it, and PostgreSQL takes none.
      operand: asked.replaceAll('\0', ' '),
      from: `, ${anyWord(config)} AS asked`,
      where: 'kept.words @@ asked.words',
      rank: '-ts_rank_cd(kept.words, asked.words)',
      score: (rank) => -rank,
    }),
  };
}

/** PostgreSQL's full-text search: finds facts that share a word with the query; it may find fewer than `top_k`. */
export const postgresText: MemoryPlugin<PostgresTextOptions> = {
  name: 'postgres_text',
  summary: 'full-text search in PostgreSQL (ts_rank_cd)',
  needs: 'the package pg and a PostgreSQL server (13 or newer)',
  schema,
  requires: postgresRequirements,
  identity: withoutPlace,
  create: (options, context) =>
    postgresBackend({
      name: 'postgres_text',
      options,
      context,
      table: 'heams_texts',
      column: (query) => textColumn(query, options.language),
    }),
};
