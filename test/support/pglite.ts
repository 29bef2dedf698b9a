import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { freePort } from './postgres.ts';

export interface PgliteServer {
  url: string;
  /** Runs statements in the database, past the wire. */
  exec(sql: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/**
 * PostgreSQL with pgvector, compiled to WebAssembly, behind PostgreSQL's wire protocol: for where a server with
 * pgvector cannot be had. All connections share one session, and messages of several would mix: use `pool_size: 1`.
 */
export async function startPglite(): Promise<PgliteServer> {
  const db = await PGlite.create({ extensions: { vector } });
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, port, host: '127.0.0.1', maxConnections: 20 });
  await server.start();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    exec: async (sql) => (await db.exec(sql)).at(-1)?.rows ?? [],
    stop: async () => {
      await server.stop();
      await db.close();
    },
  };
}
