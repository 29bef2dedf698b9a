import type { Pool, PoolClient } from 'pg';
import { type Env, envVariable, fillReferences, referencesIn } from '../../lib/env-references.ts';
import { HeamsError } from '../../lib/errors.ts';
import { loadPackage } from '../../lib/optional-package.ts';
import { postgresError } from './errors.ts';
import { PG, type PostgresOptions, shownAddress } from './options.ts';

/** Runs one statement and gives its rows. */
export type Query = <R extends object>(sql: string, values?: readonly unknown[]) => Promise<R[]>;

/** A pool of connections. Whatever goes wrong in it is a `HeamsError` without a secret. */
export interface Database {
  query: Query;
  /** What `work` does happens altogether or not at all. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A server that has stopped answering must not keep a run from ending. */
const QUERY_TIMEOUT_MS = 120_000;

/** The address with its variables filled in; in front of the `@` with the escapes that a URL needs there. */
function connectionString(options: PostgresOptions, env: Env): string {
  const { url, url_env: urlEnv } = options;
  const names = url === undefined ? [urlEnv ?? ''] : referencesIn(url);
  const missing = names.find((name) => envVariable(env, name) === undefined);
  if (missing !== undefined) {
    throw new HeamsError(`${missing} is not set`, {
      code: 'missing_variable',
      expected: 'the address of the PostgreSQL server',
      found: 'nothing',
      hint: `set ${missing}`,
    });
  }
  const at = url?.indexOf('@') ?? -1;
  const escaped = Object.fromEntries(names.map((name) => [name, encodeURIComponent(envVariable(env, name) ?? '')]));
  const filled =
    url === undefined
      ? (envVariable(env, urlEnv ?? '') as string)
      : fillReferences(url.slice(0, at + 1), escaped) + fillReferences(url.slice(at + 1), env);
  if (!/^postgres(ql)?:\/\/./.test(filled) || !URL.canParse(filled.replace('@/', '@host/'))) {
    throw new HeamsError(`${shownAddress(options)} is no address of a PostgreSQL server`, {
      code: 'memory_bad_address',
      expected: 'postgresql://user:password@host:port/database',
      hint: 'characters such as @, / and # in a password are written as %40, %2F and %23',
    });
  }
  return filled;
}

/**
 * Opens no connection yet: the first statement does.
 *
 * @throws HeamsError `package_not_installed`, `missing_variable`, `memory_bad_address`
 */
export async function openDatabase(options: PostgresOptions, env: Env): Promise<Database> {
  const { default: pg } = await loadPackage(PG, () => import('pg'));
  const at = shownAddress(options);
  const pool = new pg.Pool({
    connectionString: connectionString(options, env),
    max: options.pool_size,
    connectionTimeoutMillis: options.connect_timeout_s * 1000,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'heams',
  });
  // A connection that breaks while nobody uses it is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  const on =
    (connection: Pool | PoolClient): Query =>
    async <R extends object>(sql: string, values: readonly unknown[] = []) => {
      try {
        return (await connection.query<R>(sql, [...values])).rows;
      } catch (error) {
        throw postgresError(error, at);
      }
    };
  return {
    query: on(pool),
    async transaction(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw postgresError(error, at);
      });
      const broken = () => {};
      client.on('error', broken);
      const query = on(client);
      let failed = true;
      try {
        await query('BEGIN');
        const result = await work(query);
        await query('COMMIT');
        failed = false;
        return result;
      } finally {
        client.off('error', broken);
        // What is left of a failed transaction goes with its connection.
        client.release(failed);
      }
    },
    close: () => pool.end(),
  };
}
