import { z } from 'zod';
import type { MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import type { Json } from '../schema/json.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { hostedCapabilities, hostedIdentity, hostedNeeds, hostedShape } from './hosted/options.ts';
import { hostedService, type Service, type ServiceScope, unlessMissing } from './hosted/service.ts';
import { addBySchema, addsOf, inWrittenOrder, storedOf } from './mem0ai/adds.ts';
import { type Added, type Connect, loadMem0Client, MEM0_URL, Mem0Refusal, mem0Client } from './mem0ai/client.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('mem0_cloud'),
    /** mem0 takes up to 1000. */
    top_k: z.int().positive().max(1000).default(5),
    ...hostedShape('MEM0_API_KEY'),
    /** True, as mem0 has it: its own model extracts what is kept. False: facts are kept as they are. */
    infer: z.boolean().default(true),
    /** With `infer: true`: each fact added by itself, or all facts of a session in one conversation. */
    add_by: addBySchema.optional(),
    /** Hits that score less are dropped; at 0 none are. mem0's own default is 0.1. */
    threshold: z.number().min(0).max(1).default(0),
  })
  .refine(({ infer, add_by: by }) => infer || by === undefined, {
    path: ['add_by'],
    error: 'add_by needs infer: true',
  });
export type Mem0CloudOptions = z.infer<typeof schema>;

/** mem0's hosted platform, through its own client. */
export const mem0Cloud: MemoryPlugin<Mem0CloudOptions> = {
  name: 'mem0_cloud',
  summary: "mem0's hosted platform",
  needs: 'the package mem0ai and MEM0_API_KEY',
  schema,
  requires: (options) =>
    hostedNeeds(options, {
      packageName: mem0Client.name,
      install: mem0Client.install,
      service: "mem0's platform",
      url: MEM0_URL,
    }),
  identity: hostedIdentity,
  create,
};

async function create(options: Mem0CloudOptions, context: PluginContext) {
  const load = await loadMem0Client();
  const service = hostedService({
    name: 'mem0',
    options,
    context,
    read: (error) =>
      error instanceof Mem0Refusal
        ? { status: error.status, headers: error.headers, text: error.message }
        : { text: messageOf(error) },
  });
  const connect = load({ apiKey: service.key, host: (options.base_url ?? MEM0_URL).replace(/\/+$/, '') });
  return serviceBackend({
    name: 'mem0_cloud',
    topK: options.top_k,
    capabilities: hostedCapabilities(options, {
      rewrites: options.infer,
      provenance: (options.add_by ?? 'fact') === 'fact',
    }),
    clock: context.clock,
    pollMs: options.poll_interval_s * 1000,
    async open(scopeId, call) {
      const user = `${options.namespace}-${scopeId}`;
      const store = new Mem0CloudStore({ options, connect, service, scope: service.scope(call), user });
      if ((await store.all()).length > 0) await store.remove();
      return store;
    },
  });
}

interface StoreParts {
  options: Mem0CloudOptions;
  connect: ReturnType<Connect>;
  service: Service;
  scope: ServiceScope;
  user: string;
}

/** What a page holds at most. */
const PAGE = 100;
const EVENT_DONE = 'SUCCEEDED';
const EVENT_FAILED = 'FAILED';

class Mem0CloudStore implements ServiceStore {
  readonly #parts: StoreParts;
  readonly #written: Fact[] = [];
  /** Ids of the writes that are still being worked on. */
  #pending: string[] = [];

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async add(facts: readonly Fact[]): Promise<void> {
    const { options, user, scope, connect } = this.#parts;
    const { infer, add_by: by = 'fact' } = options;
    for (const { facts: told, origin } of addsOf(facts, by, user)) {
      const messages = told.map(({ text }) => ({ role: 'user' as const, content: text }));
      const [at] = origin.told_at ?? [];
      const added = await scope.payOnce('add', (signal) =>
        connect(signal).add(messages, {
          userId: user,
          infer,
          metadata: origin,
          ...(at === undefined ? {} : { timestamp: Math.floor(Date.parse(at) / 1000) }),
        }),
      );
      this.#pending.push(...eventsOf(added));
      this.#written.push(...told);
    }
  }

  async settled(): Promise<boolean> {
    const { scope, connect } = this.#parts;
    for (const id of [...this.#pending]) {
      const { status } = await scope.ask('event', (signal) => connect(signal).event(id));
      if (status === EVENT_FAILED) throw indexFailed();
      if (status !== EVENT_DONE) return false;
      this.#pending = this.#pending.filter((other) => other !== id);
    }
    return true;
  }

  async all() {
    const { scope, connect, user } = this.#parts;
    const found = [];
    for (let page = 1; ; page++) {
      const options = { filters: { user_id: user }, page, pageSize: PAGE, showExpired: true };
      const reply = await unlessMissing(
        scope.ask('list', (signal) => connect(signal).getAll(options)),
        { results: [], next: null },
      );
      found.push(...reply.results.map((item) => this.#stored(item)));
      if (reply.next === null || reply.next === undefined || reply.results.length === 0) break;
    }
    return inWrittenOrder(found, this.#written);
  }

  async find(query: string, k: number) {
    const { scope, connect, user, options } = this.#parts;
    const found = await scope.pay('search', (signal) =>
      connect(signal).search(query, { filters: { user_id: user }, topK: k, threshold: options.threshold }),
    );
    const items = found.results.map((item) => ({
      ...this.#stored(item),
      ...(typeof item.score === 'number' ? { score: item.score } : {}),
    }));
    return { items, raw: JSON.parse(JSON.stringify(found)) as Json };
  }

  async clear(): Promise<void> {
    this.#parts.scope.cleaning();
    // What is still being written would come in after the deletion.
    await this.#parts.service.waited(() => this.settled().catch(() => true));
    await this.remove();
  }

  /** Deletes the user's memories until none is left. */
  remove(): Promise<void> {
    const { scope, connect, service, user } = this.#parts;
    return service.emptied(
      () =>
        unlessMissing(
          scope.ask('delete', (signal) => connect(signal).deleteAll({ userId: user })),
          undefined,
        ),
      async () => (await this.all()).length,
    );
  }

  /** mem0 names the user of each memory; what belongs to another is refused as that. */
  #stored(item: Parameters<typeof storedOf>[0] & { userId?: string }) {
    const { user } = this.#parts;
    const foreign = item.userId !== undefined && item.userId !== user;
    return storedOf(foreign ? { ...item, metadata: null } : item, user);
  }
}

/** The writes that an answer announces; none where all is stored already, as without inference. */
function eventsOf(answer: unknown): string[] {
  const many = Array.isArray(answer) ? answer : [answer];
  const events = (many as (Added | null)[]).flatMap((one) =>
    one?.eventId === undefined || one.status === EVENT_DONE ? [] : [one.eventId],
  );
  const stored = (many as (Added & { id?: string; results?: unknown[] })[]).every(
    (one) => one?.status === EVENT_DONE || one?.id !== undefined || one?.results !== undefined,
  );
  if (events.length > 0 || stored) return events;
  throw new HeamsError('mem0: add: the answer names no event to wait for', {
    code: 'memory_bad_response',
    expected: 'an event_id, or what was stored',
    found: JSON.stringify(answer).slice(0, 200),
  });
}

const indexFailed = () =>
  new HeamsError('mem0 could not process what was written', {
    code: 'memory_index_failed',
    hint: 'look at the events in the dashboard of mem0',
  });
