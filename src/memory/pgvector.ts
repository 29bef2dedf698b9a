import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { namingShape } from '../schema/naming.ts';
import { embeddingModels, embeddingShape, needsProvider, openEmbedder } from './embedder.ts';
import { badEmbedding, directionsOf } from './index/directions.ts';
import { searchShape } from './options.ts';
import type { Query } from './postgres/database.ts';
import { needsAddress, postgresRequirements, postgresShape, withoutPlace } from './postgres/options.ts';
import { postgresBackend } from './postgres/postgres-backend.ts';
import type { SearchColumn } from './postgres/scoped-table.ts';

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('pgvector'),
    ...searchShape,
    ...embeddingShape,
    ...postgresShape,
    /** `none` looks at every fact of the scope and is exact; the others may miss some. */
    index: z.enum(['none', 'hnsw', 'ivfflat']).default('none'),
    /** Length of the vectors, which an index has to know; pgvector indexes 2,000 at most. */
    dimensions: z.int().positive().max(2000).optional(),
  })
  .superRefine(needsProvider)
  .superRefine(needsAddress)
  .superRefine(({ index, dimensions }, context) => {
    if ((index === 'none') === (dimensions === undefined)) return;
    const message =
      index === 'none' ? 'dimensions has a use with an index alone' : `index: ${index} needs dimensions, such as 512`;
    context.addIssue({ code: 'custom', path: ['dimensions'], message });
  });
export type PgvectorOptions = z.infer<typeof schema>;

interface Extension {
  schema: string;
  version: string;
}

const installed = async (query: Query): Promise<Extension | undefined> => {
  const [found] = await query<Extension>(
    `SELECT n.nspname AS schema, e.extversion AS version
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`,
  );
  return found;
};

/** pgvector in this database; made here where the server has it and the user may. */
async function extension(query: Query): Promise<Extension> {
  const there = await installed(query);
  if (there) return there;
  const [offered] = await query<object>("SELECT FROM pg_available_extensions WHERE name = 'vector'");
  if (!offered) {
    throw new HeamsError('the PostgreSQL server has no pgvector', {
      code: 'memory_extension_missing',
      expected: 'the extension "vector"',
      found: 'a server without it',
      hint: 'install pgvector on the server (github.com/pgvector/pgvector), or use backend: postgres_text',
    });
  }
  try {
    await query('CREATE EXTENSION IF NOT EXISTS vector');
  } catch (error) {
    if (!(error instanceof HeamsError) || error.code !== 'memory_permission') throw error;
    throw new HeamsError('the PostgreSQL user may not make the extension "vector"', {
      code: 'memory_permission',
      hint: 'let an administrator run CREATE EXTENSION vector in this database',
    });
  }
  return (await installed(query)) as Extension;
}

/** Before 0.8 an index was asked first and the scope second, so that other scopes' facts took the places of this one's. */
function refuseOldIndex(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 0 || minor >= 8) return;
  throw new HeamsError('an index needs pgvector 0.8 or newer', {
    code: 'memory_extension_old',
    expected: '0.8.0 or newer',
    found: version,
    hint: 'update pgvector, or leave `index` out: exact search is fast enough for the pools of samples',
  });
}

interface VectorSearch {
  options: PgvectorOptions;
  embedder: EmbeddingModel;
}

async function vectorColumn(query: Query, { options, embedder }: VectorSearch): Promise<SearchColumn> {
  const { index, dimensions } = options;
  const { schema: home, version } = await extension(query);
  if (index !== 'none') refuseOldIndex(version);
  const type = `"${home.replaceAll('"', '""')}".vector`;
  const operator = `OPERATOR("${home.replaceAll('"', '""')}".<=>)`;
  // Without an index the column takes vectors of any length, so that one table serves every embedding model.
  const sized = dimensions === undefined ? 'kept.embedding' : `kept.embedding::${type}(${dimensions})`;
  const directions = async (texts: readonly string[], call: CallContext) => {
    const found = await directionsOf(embedder, texts, call);
    if (dimensions !== undefined && found.dimensions !== dimensions) {
      throw badEmbedding(embedder.id, `${dimensions} dimensions, as the memory file says`, `${found.dimensions}`);
    }
    return found.vectors.map((vector) => (vector ? `[${vector.join(',')}]` : null));
  };
  return {
    name: 'embedding',
    declaration: `embedding ${type}`,
    value: `new_row.payload::${type}`,
    payload: directions,
    match: async (asked, call) => {
      const [operand] = await directions([asked], call);
      if (!operand) return undefined;
      return {
        operand,
        where: 'kept.embedding IS NOT NULL',
        rank: `${sized} ${operator} $3::${type}`,
        score: (distance) => 1 - distance,
      };
    },
    ...(index === 'none'
      ? {}
      : {
          before: [`SET LOCAL ${index}.iterative_scan = ${index === 'hnsw' ? 'strict_order' : 'relaxed_order'}`],
          index: {
            suffix: `${index}_${dimensions}`,
            definition: `USING ${index} ((embedding::${type}(${dimensions})) "${home}".vector_cosine_ops)`,
          },
        }),
  };
}

/** Search by meaning in PostgreSQL: the cosine of sentence embeddings, over every fact of the scope unless told else. */
export const pgvector: MemoryPlugin<PgvectorOptions> = {
  name: 'pgvector',
  summary: 'search by meaning in PostgreSQL with pgvector',
  needs: 'the package pg and a PostgreSQL server (13 or newer) with pgvector',
  schema,
  models: embeddingModels,
  requires: postgresRequirements,
  identity: withoutPlace,
  async create(options, context) {
    const { embedder, capabilities, close } = await openEmbedder(options, context);
    try {
      return await postgresBackend({
        name: 'pgvector',
        options,
        context,
        table: 'heams_vectors',
        capabilities: { needs_key: capabilities.needs_key },
        column: (query) => vectorColumn(query, { options, embedder }),
        close,
      });
    } catch (error) {
      await close();
      throw error;
    }
  },
};
