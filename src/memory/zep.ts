import { z } from 'zod';
import type { MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { messageOf } from '../lib/errors.ts';
import { loadPackage } from '../lib/optional-package.ts';
import type { Json } from '../schema/json.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact, StoredItem } from '../schema/record.ts';
import { hostedCapabilities, hostedIdentity, hostedNeeds, hostedShape } from './hosted/options.ts';
import { hostedService, type Refusal, type Service, type ServiceScope, unlessMissing } from './hosted/service.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';

const PACKAGE = { name: '@getzep/zep-cloud', install: '@getzep/zep-cloud@3' } as const;
const URL_ROOT = 'https://api.getzep.com/api/v2';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('zep'),
  /** Zep gives 50 at most. */
  top_k: z.int().positive().max(50).default(5),
  ...hostedShape('ZEP_API_KEY'),
  /** `edges`: the facts that Zep extracts into its graph. `episodes`: what was written, as it was written. */
  scope: z.enum(['edges', 'episodes']).default('edges'),
});
export type ZepOptions = z.infer<typeof schema>;

/** Zep's hosted knowledge graph, through its own client: a user for each scope, an episode for each fact. */
export const zep: MemoryPlugin<ZepOptions> = {
  name: 'zep',
  summary: "Zep's hosted knowledge graph",
  needs: 'the package @getzep/zep-cloud and ZEP_API_KEY',
  schema,
  requires: (options) =>
    hostedNeeds(options, { packageName: PACKAGE.name, install: PACKAGE.install, service: 'Zep', url: URL_ROOT }),
  identity: hostedIdentity,
  create,
};

type Library = typeof import('@getzep/zep-cloud');
type Client = InstanceType<Library['ZepClient']>;
type Episode = Awaited<ReturnType<Client['graph']['add']>>;
type Edge = Awaited<ReturnType<Client['graph']['edge']['get']>>;

async function create(options: ZepOptions, context: PluginContext) {
  const library = await loadPackage(PACKAGE, () => import('@getzep/zep-cloud'));
  const service = hostedService({ name: 'Zep', options, context, read: (error) => refusalOf(error, library) });
  // The address is always given: the client would take another from the environment.
  const client = new library.ZepClient({
    apiKey: service.key,
    baseUrl: (options.base_url ?? URL_ROOT).replace(/\/+$/, ''),
  });
  return serviceBackend({
    name: 'zep',
    topK: options.top_k,
    capabilities: hostedCapabilities(options, { rewrites: options.scope === 'edges', provenance: true }),
    clock: context.clock,
    pollMs: options.poll_interval_s * 1000,
    async open(scopeId, call) {
      const user = `${options.namespace}-${scopeId}`;
      const store = new ZepStore({ options, client, service, scope: service.scope(call), user });
      await store.start();
      return store;
    },
  });
}

function refusalOf(error: unknown, { ZepError }: Library): Refusal {
  if (!(error instanceof ZepError)) return { text: messageOf(error) };
  const { statusCode, body, rawResponse } = error;
  const headers = Object.fromEntries(rawResponse?.headers?.entries() ?? []);
  const said = typeof body === 'object' && body !== null ? (body as { message?: unknown }).message : body;
  const text = String(said ?? error.message);
  return statusCode === undefined ? { text } : { status: statusCode, headers, text };
}

interface StoreParts {
  options: ZepOptions;
  client: Client;
  service: Service;
  scope: ServiceScope;
  user: string;
}

/** What a page holds at most. */
const PAGE = 100;

class ZepStore implements ServiceStore {
  readonly #parts: StoreParts;
  /** Facts by the episode that each was written as, in the order of writing. */
  readonly #factOf = new Map<string, string>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** A new user. One that an earlier run left behind is deleted with all that it holds. */
  async start(): Promise<void> {
    const { user } = this.#parts;
    if (await this.#exists()) await this.#remove();
    await this.#ask('create user', (client, request) => client.user.add({ userId: user }, request));
  }

  async add(facts: readonly Fact[]): Promise<void> {
    const { user, scope, client } = this.#parts;
    for (const { id, text, at } of facts) {
      const written = { userId: user, type: 'text' as const, data: text, metadata: { fact_id: id } };
      const episode = await scope.payOnce('add', (signal) =>
        client.graph.add({ ...written, ...(at === undefined ? {} : { createdAt: at }) }, requestOf(signal)),
      );
      this.#factOf.set(episode.uuid, id);
    }
  }

  async settled(): Promise<boolean> {
    const done = new Set((await this.#episodes()).filter(({ processed }) => processed).map(({ uuid }) => uuid));
    return [...this.#factOf.keys()].every((uuid) => done.has(uuid));
  }

  async all(): Promise<StoredItem[]> {
    const items =
      this.#parts.options.scope === 'edges'
        ? (await this.#edges()).map((edge) => this.#edge(edge))
        : (await this.#episodes()).map((episode) => this.#episode(episode));
    const places = new Map([...this.#factOf.values()].map((id, place) => [id, place]));
    const placeOf = ({ fact_ids: [first] }: StoredItem) => places.get(first ?? '') ?? places.size;
    return items.sort((a, b) => placeOf(a) - placeOf(b));
  }

  async find(query: string, k: number) {
    const { client, user, options, scope } = this.#parts;
    const found = await scope.pay('search', (signal) =>
      client.graph.search({ userId: user, query, limit: k, scope: options.scope }, requestOf(signal)),
    );
    const items =
      options.scope === 'edges'
        ? (found.edges ?? []).map((edge) => ({ ...this.#edge(edge), ...scoreOf(edge) }))
        : (found.episodes ?? []).map((episode) => ({ ...this.#episode(episode), ...scoreOf(episode) }));
    return { items, raw: JSON.parse(JSON.stringify(found)) as Json };
  }

  async clear(): Promise<void> {
    this.#parts.scope.cleaning();
    await this.#remove();
  }

  /** An edge of an episode that nobody wrote here is named by it, so that it is refused as another scope's. */
  #edge({ fact, episodes = [] }: Edge): StoredItem {
    return { text: fact, fact_ids: [...new Set(episodes.map((uuid) => this.#factOf.get(uuid) ?? uuid))] };
  }

  #episode({ content, uuid }: Episode): StoredItem {
    return { text: content, fact_ids: [this.#factOf.get(uuid) ?? uuid] };
  }

  async #episodes(): Promise<Episode[]> {
    const { user } = this.#parts;
    const found = await unlessMissing(
      this.#ask('list episodes', (client, request) =>
        client.graph.episode.getByUserId(user, { lastn: this.#factOf.size + PAGE }, request),
      ),
      { episodes: [] },
    );
    return found.episodes ?? [];
  }

  async #edges(): Promise<Edge[]> {
    const { user } = this.#parts;
    const edges: Edge[] = [];
    for (let cursor: string | undefined; ; cursor = edges.at(-1)?.uuid) {
      const from = { limit: PAGE, ...(cursor === undefined ? {} : { uuidCursor: cursor }) };
      const page = await unlessMissing(
        this.#ask('list edges', (client, request) => client.graph.edge.getByUserId(user, from, request)),
        [],
      );
      edges.push(...page);
      if (page.length < PAGE) return edges;
    }
  }

  async #exists(): Promise<boolean> {
    const { user } = this.#parts;
    const found = await unlessMissing(
      this.#ask('look up user', (client, request) => client.user.get(user, request)),
      undefined,
    );
    return found !== undefined;
  }

  /** Deletes the user until it is gone; what it held goes with it. */
  #remove(): Promise<void> {
    const { user, service } = this.#parts;
    return service.emptied(
      () =>
        unlessMissing(
          this.#ask('delete user', (client, request) => client.user.delete(user, request)),
          undefined,
        ),
      async () => ((await this.#exists()) ? Math.max(1, (await this.#episodes()).length) : 0),
    );
  }

  #ask<T>(what: string, asked: (client: Client, request: ReturnType<typeof requestOf>) => Promise<T>): Promise<T> {
    const { scope, client } = this.#parts;
    return scope.ask(what, (signal) => asked(client, requestOf(signal)));
  }
}

/** One attempt: whether there is another is not the client's to say. */
const requestOf = (signal: AbortSignal) => ({ maxRetries: 0, abortSignal: signal, timeoutInSeconds: 3600 });

const scoreOf = ({ score }: { score?: number }) => (score === undefined ? {} : { score });
