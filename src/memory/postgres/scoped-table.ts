import type { CallContext } from '../../contracts/call.ts';
import { HeamsError } from '../../lib/errors.ts';
import type { Fact } from '../../schema/record.ts';
import type { ServiceStore } from '../service-backend.ts';
import { refuseUnstorable } from '../storable-text.ts';
import type { Database, Query } from './database.ts';

/** What one kind of search adds to the table that all of them share. */
export interface SearchColumn {
  /** The column as it is declared. */
  declaration: string;
  name: string;
  /** SQL of the column's value in a new row, from `new_row.text` and `new_row.payload`. */
  value: string;
  /** What each new row's value is made of, where its text is not enough. */
  payload?(texts: readonly string[], call: CallContext): Promise<(string | null)[]>;
  /** How rows, as `kept`, are held against the query; nothing where it cannot find any. `$3` is `operand`. */
  match(query: string, call: CallContext): Promise<Match | undefined>;
  /** Statements before a search, in its transaction. */
  before?: readonly string[];
  /** An index beside the one of scopes, by the end of its name and what follows the table in its declaration. */
  index?: { suffix: string; definition: string };
}

export interface Match {
  operand: string;
  /** SQL: what else is read from, with its comma; which rows are found; and the number they are ordered by, ascending. */
  from?: string;
  where: string;
  rank: string;
  /** A row's score, which falls as its rank rises. */
  score(rank: number): number;
}

export interface TablePlace {
  schema?: string | undefined;
  table: string;
}

const quoted = (name: string): string => `"${name}"`;
export const qualified = ({ schema, table }: TablePlace): string =>
  schema === undefined ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;

/** Everybody who makes the tables of HEAMS takes this lock first: a number of its own, at random. */
const LOCK = '7311894467010285911';

/** Runs `work` in a transaction, and in no two processes at once. */
export function lockedSetUp<T>(db: Database, work: (query: Query) => Promise<T>): Promise<T> {
  return db.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1::bigint)', [LOCK]);
    return work(query);
  });
}

async function exists(query: Query, name: string): Promise<boolean> {
  const [row] = await query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [name]);
  return row?.there === true;
}

/** Makes the table where it is not there: who may only use one that is there, need not have the right to make one. */
export async function makeTable(query: Query, place: TablePlace, column: SearchColumn): Promise<void> {
  const { schema, table } = place;
  const name = qualified(place);
  if (!(await exists(query, name))) {
    if (schema !== undefined) await query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
    await query(`CREATE TABLE IF NOT EXISTS ${name} (
      scope text NOT NULL, owner text NOT NULL, seq integer NOT NULL, fact_id text NOT NULL, text text NOT NULL,
      told_at timestamptz, session text, ${column.declaration}, PRIMARY KEY (scope, owner, seq))`);
  }
  try {
    const columns = `scope, owner, seq, fact_id, text, told_at, session, ${column.name}`;
    await query(`SELECT ${columns} FROM ${name} LIMIT 0`);
  } catch (error) {
    if (!(error instanceof HeamsError) || error.code !== 'memory_database_error') throw error;
    throw new HeamsError(`the table ${name} is there, and is none that this memory made`, {
      code: 'memory_table_unsuitable',
      found: error.message,
      hint: 'give another name as `table`',
    });
  }
  const { index } = column;
  if (index && !(await exists(query, qualified({ schema, table: `${table}_${index.suffix}` })))) {
    await query(`CREATE INDEX IF NOT EXISTS ${quoted(`${table}_${index.suffix}`)} ON ${name} ${index.definition}`);
  }
}

export interface ScopedTable {
  db: Database;
  place: TablePlace;
  column: SearchColumn;
}

interface HitRow {
  held: number;
  fact_id: string | null;
  text: string;
  rank: number;
}

/**
 * One scope of a table that all scopes share, as the rows of a name and of an owner that is new with each opening. What
 * an earlier run left under the name is deleted. Should another process open the same scope, which two runs of the same
 * config on one table at once would do, then the rows of this one are gone: that is an error, not an empty memory.
 */
export async function openScopedTable(
  { db, place, column }: ScopedTable,
  scope: string,
  call: CallContext,
): Promise<ServiceStore> {
  const name = qualified(place);
  const [opened] = await db.query<{ owner: string }>(
    `WITH left_behind AS (DELETE FROM ${name} WHERE scope = $1) SELECT gen_random_uuid()::text AS owner`,
    [scope],
  );
  const owner = opened?.owner as string;
  let written = 0;
  const checkHeld = (held: number): void => {
    if (held === written) return;
    throw new HeamsError(`the table holds ${held} of the ${written} facts that were written to a scope`, {
      code: 'memory_scope_taken',
      expected: 'the rows of a scope to be left alone',
      found: `${held} rows in ${name}`,
      hint: 'two runs of the same config at once need a `table` each',
    });
  };

  async function add(facts: readonly Fact[]): Promise<void> {
    refuseUnstorable(facts, { system: 'PostgreSQL', refusesNul: true });
    const texts = facts.map((fact) => fact.text);
    const payload = (await column.payload?.(texts, call)) ?? texts.map(() => null);
    await db.query(
      `INSERT INTO ${name} (scope, owner, seq, fact_id, text, told_at, session, ${column.name})
       SELECT $1, $2, $3::int + new_row.place, new_row.fact_id, new_row.text, new_row.told_at, new_row.session,
         ${column.value}
       FROM unnest($4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
         WITH ORDINALITY AS new_row (fact_id, text, told_at, session, payload, place)`,
      [
        scope,
        owner,
        written,
        facts.map((fact) => fact.id),
        texts,
        facts.map((fact) => fact.at ?? null),
        facts.map((fact) => fact.session ?? null),
        payload,
      ],
    );
    written += facts.length;
  }

  async function find(query: string, k: number) {
    const match = await column.match(query, call);
    if (!match) {
      await all();
      return { items: [] };
    }
    const sql = `SELECT own.held, hit.fact_id, hit.text, hit.rank
      FROM (SELECT count(*)::int AS held FROM ${name} WHERE scope = $1 AND owner = $2) own
      LEFT JOIN LATERAL (
        SELECT fact_id, text, seq, (${match.rank})::float8 AS rank FROM ${name} kept${match.from ?? ''}
        WHERE scope = $1 AND owner = $2 AND ${match.where} ORDER BY ${match.rank}, seq LIMIT $4
      ) hit ON true ORDER BY hit.rank, hit.seq`;
    const rows = await searched(sql, [scope, owner, match.operand, k]);
    checkHeld(rows[0]?.held ?? 0);
    const hits = rows.filter((row): row is HitRow & { fact_id: string } => row.fact_id !== null);
    return { items: hits.map(({ fact_id, text, rank }) => ({ text, fact_ids: [fact_id], score: match.score(rank) })) };
  }

  function searched(sql: string, values: readonly unknown[]): Promise<HitRow[]> {
    const { before } = column;
    if (!before) return db.query<HitRow>(sql, values);
    return db.transaction(async (query) => {
      for (const statement of before) await query(statement);
      return query<HitRow>(sql, values);
    });
  }

  async function all() {
    const rows = await db.query<{ fact_id: string; text: string }>(
      `SELECT fact_id, text FROM ${name} WHERE scope = $1 AND owner = $2 ORDER BY seq`,
      [scope, owner],
    );
    checkHeld(rows.length);
    return rows.map(({ fact_id, text }) => ({ text, fact_ids: [fact_id] }));
  }

  async function clear(): Promise<void> {
    await db.query(`DELETE FROM ${name} WHERE scope = $1 AND owner = $2`, [scope, owner]);
    written = 0;
  }

  return { add, all, find, clear };
}
