import { rm } from 'node:fs/promises';
import type { Database } from 'node-sqlite3-wasm';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { APPLICATION_ID, FORMAT, ownFile, realFile, refuseForeign } from './file-lock.ts';

export const IN_MEMORY = ':memory:';

export type Row = Record<string, unknown>;
type Values = (string | number)[];

/** One connection. Every call is done when it returns, so calls of one process never meet inside SQLite. */
export interface Connection {
  run(sql: string, values?: Values): void;
  all(sql: string, values?: Values): Row[];
  /** All that `work` does, or nothing of it. `work` must not wait. */
  transaction<T>(work: () => T): T;
  /** Ids of scopes that this process has open. */
  readonly live: Set<number>;
  /** Gives the connection back; the last user closes it. */
  close(): Promise<void>;
}

const tables = `
  CREATE TABLE IF NOT EXISTS scopes (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS facts (
    scope INTEGER NOT NULL, position INTEGER NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (scope, position)
  ) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
`;

function databaseError(error: unknown): unknown {
  if (error instanceof HeamsError || (error as Error)?.name !== 'SQLite3Error') return error;
  return new HeamsError(`SQLite could not do what was asked: ${messageOf(error)}`, {
    code: 'memory_database_error',
    cause: error,
  });
}

function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw databaseError(error);
  }
}

async function connect(file: string): Promise<Database> {
  // The package's exports are known at run time only, so an import has them all in its default.
  const loaded = (await import('node-sqlite3-wasm')) as unknown as { default: typeof import('node-sqlite3-wasm') };
  return told(() => {
    const db = new loaded.default.Database(file);
    try {
      // One process has the file, so it is locked once and not for every statement. Nobody reads it after a crash, so
      // nothing waits for the disk. What is deleted is overwritten, not just let go.
      db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF');
      db.exec('PRAGMA secure_delete = ON');
      db.exec(`BEGIN; ${tables} COMMIT`);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

type Opened = Omit<Connection, 'close'> & { end(): Promise<void> };

function opened(db: Database, release: () => Promise<void>): Opened {
  const transaction = <T>(work: () => T): T =>
    told(() => {
      db.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        db.exec('COMMIT');
        return result;
      } catch (error) {
        if (db.inTransaction) db.exec('ROLLBACK');
        throw error;
      }
    });
  return {
    run: (sql, values = []) => void told(() => db.run(sql, values)),
    all: (sql, values = []) => told(() => db.all(sql, values) as Row[]),
    transaction,
    live: new Set(),
    async end() {
      try {
        told(() => db.close());
      } finally {
        await release();
      }
    },
  };
}

async function openFile(file: string, startedAt: string): Promise<Opened> {
  const release = await ownFile(file, startedAt);
  try {
    await refuseForeign(file);
    // What is in it was left by a process that is gone, and is nobody's memory any more. It may be torn besides: SQLite
    // in WebAssembly does not take back what a killed process had half written, as it sees its own lock as another's.
    await Promise.all([file, `${file}-journal`].map((one) => rm(one, { force: true })));
    return opened(await connect(file), release);
  } catch (error) {
    await release();
    throw error;
  }
}

interface Shared {
  users: number;
  opening: Promise<Opened>;
}

/** Open files of this process, by their real names, and those that are being closed. */
const files = new Map<string, Shared>();
const closing = new Map<string, Promise<void>>();

async function sharedFile(file: string, startedAt: string): Promise<Connection> {
  while (closing.has(file)) await closing.get(file);
  const shared = files.get(file) ?? { users: 0, opening: openFile(file, startedAt) };
  files.set(file, shared);
  shared.users += 1;
  const leave = async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    files.delete(file);
    const end = shared.opening.then(
      (connection) => connection.end(),
      () => undefined,
    );
    const ended = end.catch(() => undefined).then(() => void closing.delete(file));
    closing.set(file, ended);
    await end;
  };
  try {
    const { end: _, ...connection } = await shared.opening;
    return { ...connection, close: leave };
  } catch (error) {
    await leave();
    throw error;
  }
}

/**
 * The connection to a file, one for all backends of this process, or to a database of its own in memory. A file that an
 * earlier process left is made anew: no scope outlives its process.
 *
 * @param startedAt When this process took the file, for the message to a second one.
 * @throws HeamsError `memory_file_in_use`, `memory_file_foreign`, `memory_file_unusable`, `memory_database_error`
 */
export async function openDatabase(file: string, startedAt: string): Promise<Connection> {
  if (file === IN_MEMORY) {
    const { end, ...connection } = opened(await connect(file), async () => {});
    return { ...connection, close: end };
  }
  try {
    return await sharedFile(await realFile(file), startedAt);
  } catch (error) {
    if (error instanceof HeamsError) throw error;
    throw new HeamsError(`the memory file cannot be used: ${messageOf(error)}`, {
      code: 'memory_file_unusable',
      where: { file },
      hint: 'name a `file` in a folder that can be written to',
      cause: error,
    });
  }
}

/** The table of one scope's full-text index. */
export const indexOf = (scope: number): string => `scope_${scope}`;

/** Deletes scopes, their facts and their indexes; nothing of those that are open. */
export function dropScopes(
  { all, run, transaction, live }: Pick<Connection, 'all' | 'run' | 'transaction' | 'live'>,
  select: string,
  values: Values = [],
): void {
  const ids = all(select, values).map(({ id }) => Number(id));
  for (const id of ids.filter((one) => !live.has(one))) {
    transaction(() => {
      run(`DROP TABLE IF EXISTS ${indexOf(id)}`);
      run('DELETE FROM facts WHERE scope = ?', [id]);
      run('DELETE FROM scopes WHERE id = ?', [id]);
    });
  }
}
