import type { MemoryBackend, MemoryCapabilities } from '../../contracts/memory.ts';
import type { PluginContext } from '../../contracts/plugin.ts';
import { serviceBackend } from '../service-backend.ts';
import { type Database, openDatabase, type Query } from './database.ts';
import type { PostgresOptions } from './options.ts';
import { lockedSetUp, makeTable, openScopedTable, type ScopedTable, type SearchColumn } from './scoped-table.ts';

export interface PostgresBackendSpec {
  /** Name of the plug-in. */
  name: string;
  options: PostgresOptions & { top_k: number };
  context: PluginContext;
  /** The table's name where the file gives none. */
  table: string;
  capabilities?: Partial<MemoryCapabilities>;
  /** Looks at the server, in the transaction that makes the table, for what the search needs there. */
  column(query: Query): Promise<SearchColumn>;
  close?(): Promise<void>;
}

/** A backend over one table of a PostgreSQL server. The table is made when the first scope is opened. */
export async function postgresBackend(spec: PostgresBackendSpec): Promise<MemoryBackend> {
  const { name, options, context } = spec;
  const db = await openDatabase(options, context.env);
  const place = { schema: options.schema, table: options.table ?? spec.table };
  const setUp = (): Promise<ScopedTable> =>
    lockedSetUp(db, async (query) => {
      const column = await spec.column(query);
      await makeTable(query, place, column);
      return { db, place, column };
    });
  const table = untilItWorks(setUp);
  return serviceBackend({
    name,
    topK: options.top_k,
    clock: context.clock,
    capabilities: {
      stores: true,
      rewrites: false,
      provenance: true,
      honours_k: true,
      needs_network: true,
      needs_key: false,
      ...spec.capabilities,
    },
    open: async (scopeId, call) => openScopedTable(await table(), scopeId, call),
    close: () => closeBoth(db, spec),
  });
}

async function closeBoth(db: Database, spec: PostgresBackendSpec): Promise<void> {
  try {
    await db.close();
  } finally {
    await spec.close?.();
  }
}

/** What the work gave the first time that it went well, for everybody who asks; after a failure it is tried again. */
function untilItWorks<T>(work: () => Promise<T>): () => Promise<T> {
  let going: Promise<T> | undefined;
  return () => {
    going ??= work().catch((error: unknown) => {
      going = undefined;
      throw error;
    });
    return going;
  };
}
