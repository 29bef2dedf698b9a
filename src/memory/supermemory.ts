import { z } from 'zod';
import type { MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { loadPackage } from '../lib/optional-package.ts';
import type { Json } from '../schema/json.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact, StoredItem } from '../schema/record.ts';
import { hostedCapabilities, hostedIdentity, hostedNeeds, hostedShape } from './hosted/options.ts';
import { hostedService, type Refusal, type Service, type ServiceScope, unlessMissing } from './hosted/service.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';

const PACKAGE = { name: 'supermemory', install: 'supermemory@4' } as const;
const URL_ROOT = 'https://api.supermemory.ai';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('supermemory'),
  /** Supermemory gives 100 at most. */
  top_k: z.int().positive().max(100).default(5),
  ...hostedShape('SUPERMEMORY_API_KEY'),
  /** `memories`: what Supermemory extracts. `documents`: pieces of what was written. `hybrid`: both. */
  search_mode: z.enum(['memories', 'hybrid', 'documents']).default('memories'),
  /** Hits that score less are dropped; at 0 none are. Supermemory's own default is 0.6. */
  threshold: z.number().min(0).max(1).default(0),
});
export type SupermemoryOptions = z.infer<typeof schema>;

/** Supermemory's hosted memory, through its own client: a container for each scope, a document for each fact. */
export const supermemory: MemoryPlugin<SupermemoryOptions> = {
  name: 'supermemory',
  summary: "Supermemory's hosted memory",
  needs: 'the package supermemory and SUPERMEMORY_API_KEY',
  schema,
  requires: (options) =>
    hostedNeeds(options, {
      packageName: PACKAGE.name,
      install: PACKAGE.install,
      service: 'Supermemory',
      url: URL_ROOT,
    }),
  identity: hostedIdentity,
  create,
};

type Library = typeof import('supermemory');
type Client = InstanceType<Library['Supermemory']>;
type Document = Awaited<ReturnType<Client['documents']['list']>>['memories'][number];
type Hit = Awaited<ReturnType<Client['search']>>['results'][number];

async function create(options: SupermemoryOptions, context: PluginContext) {
  const library = await loadPackage(PACKAGE, () => import('supermemory'));
  const service = hostedService({ name: 'Supermemory', options, context, read: (error) => refusalOf(error, library) });
  // All is given: the client would take an address from the environment, retry by itself and print to the console.
  const client = new library.Supermemory({
    apiKey: service.key,
    baseURL: (options.base_url ?? URL_ROOT).replace(/\/+$/, ''),
    maxRetries: 0,
    timeout: 3_600_000,
    logLevel: 'off',
  });
  return serviceBackend({
    name: 'supermemory',
    topK: options.top_k,
    capabilities: hostedCapabilities(options, { rewrites: true, provenance: true }),
    clock: context.clock,
    pollMs: options.poll_interval_s * 1000,
    async open(scopeId, call) {
      const tag = `${options.namespace}-${scopeId}`;
      const store = new SupermemoryStore({ options, client, service, scope: service.scope(call), tag });
      if ((await store.held()) > 0) await store.remove();
      return store;
    },
  });
}

function refusalOf(error: unknown, { APIError }: Library): Refusal {
  if (!(error instanceof APIError) || error.status === undefined) return { text: messageOf(error) };
  return { status: error.status, headers: Object.fromEntries(error.headers ?? []), text: error.message };
}

/** A memory that Supermemory extracted, as `POST /v4/memories/list` gives it; the client has no method for that. */
interface MemoryEntry {
  id: string;
  memory: string;
  isLatest?: boolean;
  isForgotten?: boolean;
  documentIds?: string[];
}

interface EntryPage {
  memoryEntries: MemoryEntry[];
  pagination?: { totalPages?: number };
}

interface StoreParts {
  options: SupermemoryOptions;
  client: Client;
  service: Service;
  scope: ServiceScope;
  tag: string;
}

/** What a page holds at most. */
const PAGE = 100;

class SupermemoryStore implements ServiceStore {
  readonly #parts: StoreParts;
  /** Facts by the document that each was written as, in the order of writing. */
  readonly #factOf = new Map<string, string>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async add(facts: readonly Fact[]): Promise<void> {
    const { client, scope, tag } = this.#parts;
    for (const { id, text, at } of facts) {
      const document = {
        content: text,
        containerTag: tag,
        metadata: { heams_scope: tag, fact_id: id, ...(at === undefined ? {} : { told_at: at }) },
        // Otherwise memories may be formed, from several documents at once, after a document is said to be done.
        dreaming: 'instant',
      };
      const added = await scope.payOnce('add', (signal) => client.documents.add(document, { signal }));
      this.#factOf.set(added.id, id);
    }
  }

  async settled(): Promise<boolean> {
    const documents = await this.#documents();
    if (documents.some(({ status }) => status === 'failed')) throw indexFailed();
    const done = new Set(documents.filter(({ status }) => status === 'done').map(({ id }) => id));
    if (![...this.#factOf.keys()].every((id) => done.has(id))) return false;
    return this.#parts.options.search_mode !== 'memories' || (await this.#entries()).length > 0;
  }

  async all(): Promise<StoredItem[]> {
    const { search_mode: mode } = this.#parts.options;
    const memories = mode === 'documents' ? [] : (await this.#entries()).map((entry) => this.#entry(entry));
    const documents =
      mode === 'memories'
        ? []
        : (await this.#documents()).map(({ id, content }) => ({ text: content ?? '', fact_ids: this.#facts([id]) }));
    const places = new Map([...this.#factOf.values()].map((id, place) => [id, place]));
    const placeOf = ({ fact_ids: [first] }: StoredItem) => places.get(first ?? '') ?? places.size;
    return [...memories, ...documents].sort((a, b) => placeOf(a) - placeOf(b));
  }

  async find(query: string, k: number) {
    const { client, scope, options, tag } = this.#parts;
    const { search_mode: searchMode, threshold } = options;
    const asked = { q: query, containerTag: tag, limit: k, threshold, searchMode, include: { documents: true } };
    const found = await scope.pay('search', (signal) => client.search(asked, { signal }));
    const items = found.results.map((hit) => ({ ...this.#hit(hit), score: hit.similarity }));
    return { items, raw: JSON.parse(JSON.stringify(found)) as Json };
  }

  async clear(): Promise<void> {
    this.#parts.scope.cleaning();
    await this.remove();
  }

  /** Documents and memories that the container holds, whatever is searched. */
  async held(): Promise<number> {
    return (await this.#documents()).length + (await this.#entries()).length;
  }

  /** Deletes the container until it holds nothing; what is still being processed cannot be deleted at once. */
  remove(): Promise<void> {
    const { client, scope, service, tag } = this.#parts;
    const path = `/v3/container-tags/${encodeURIComponent(tag)}`;
    return service.emptied(
      () =>
        unlessMissing(
          scope.ask('delete', (signal) => client.delete(path, { signal })),
          undefined,
        ),
      () => this.held(),
    );
  }

  /** A document that nobody wrote here is named by its id, so that it is refused as another scope's. */
  #facts(documents: readonly string[]): string[] {
    return [...new Set(documents.map((id) => this.#factOf.get(id) ?? id))];
  }

  #entry({ memory, documentIds = [] }: MemoryEntry): StoredItem {
    return { text: memory, fact_ids: this.#facts(documentIds) };
  }

  /** A piece of a document may come without the document's id; it has its metadata then. */
  #hit({ id, memory, chunk, documents = [], metadata }: Hit): StoredItem {
    const text = memory ?? chunk ?? '';
    if (documents.length > 0) return { text, fact_ids: this.#facts(documents.map((one) => one.id)) };
    const { heams_scope: scope, fact_id: fact } = metadata ?? {};
    if (scope === undefined) return { text, fact_ids: [] };
    return { text, fact_ids: [scope === this.#parts.tag ? String(fact) : `${id} of another scope`] };
  }

  async #documents(): Promise<Document[]> {
    const { client, scope, tag } = this.#parts;
    return this.#pages(async (page) => {
      const asked = { containerTags: [tag], limit: PAGE, page, includeContent: true };
      const { memories, pagination } = await scope.ask('list documents', (signal) =>
        client.documents.list(asked, { signal }),
      );
      return { items: memories, last: pagination.totalPages };
    });
  }

  async #entries(): Promise<MemoryEntry[]> {
    const { client, scope, tag } = this.#parts;
    const entries = await this.#pages(async (page) => {
      const body = { containerTags: [tag], limit: PAGE, page };
      const { memoryEntries, pagination } = await scope.ask('list memories', (signal) =>
        client.post<EntryPage>('/v4/memories/list', { body, signal }),
      );
      return { items: memoryEntries, last: pagination?.totalPages ?? 1 };
    });
    return entries.filter(({ isForgotten, isLatest }) => !isForgotten && isLatest !== false);
  }

  async #pages<T>(read: (page: number) => Promise<{ items: T[]; last: number }>): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; ; page++) {
      const { items, last } = await unlessMissing(read(page), { items: [], last: 0 });
      all.push(...items);
      if (page >= last || items.length === 0) return all;
    }
  }
}

const indexFailed = () =>
  new HeamsError('Supermemory could not process what was written', {
    code: 'memory_index_failed',
    hint: 'look at the documents in the console of Supermemory',
  });
