import { z } from 'zod';
import type { CallContext, Clock } from '../contracts/call.ts';
import type { MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { isBareUrl } from '../lib/bare-url.ts';
import { referencesIn } from '../lib/env-references.ts';
import { HeamsError } from '../lib/errors.ts';
import { filledHeaders, headerRequirements } from '../lib/headers.ts';
import { redactor } from '../models/redact.ts';
import { headersSchema } from '../schema/headers.ts';
import type { Json } from '../schema/json.ts';
import {
  MEMORY_PROTOCOL,
  type MemoryAbout,
  memoryAboutSchema,
  memoryFoundSchema,
  memoryListedSchema,
  memoryReadySchema,
} from '../schema/memory-protocol.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { searchShape } from './options.ts';
import { type Asking, MemoryClient, type MemoryRequest } from './remote/client.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('http'),
  ...searchShape,
  url: z
    .url({ protocol: /^https?$/, error: 'a URL with http or https' })
    .refine(
      (url) => isBareUrl(url) && !url.includes('?'),
      'no user, password, query or fragment in it; put a key into headers, as a reference',
    ),
  /** Sent with every request; `${NAME}` stands for an environment variable. */
  headers: headersSchema,
  /** What the memory is, as it must say itself: it decides how its answers are read. */
  rewrites: z.boolean().default(false),
  provenance: z.boolean().default(true),
  honours_k: z.boolean().default(true),
  /** Scopes that may be open at once; the memory may say a smaller number. */
  max_concurrency: z.int().positive().optional(),
  /** How long to wait between two looks at whether it is ready, in seconds. */
  poll_interval_s: z.number().positive().default(0.25),
  /** Deadline of one request, in seconds. */
  timeout_s: z.number().positive().max(300).default(60),
  /** How often a request is sent again after 429 or 503. */
  retries: z.int().min(0).max(20).default(4),
  /** The memory's own version, where another one is to make another run. */
  version: z.string().min(1).optional(),
});
export type HttpMemoryOptions = z.infer<typeof schema>;

/** A memory behind an address, in any language, that speaks the protocol of docs/memory-protocol.openapi.yaml. */
export const http: MemoryPlugin<HttpMemoryOptions> = {
  name: 'http',
  summary: 'a memory behind an address that speaks the memory protocol, in any language',
  needs: 'its server',
  schema,
  identity: ({ top_k, rewrites, provenance, honours_k, version }) => ({
    top_k,
    rewrites,
    provenance,
    honours_k,
    ...(version === undefined ? {} : { version }),
  }),
  requires: ({ url, headers }) => [{ kind: 'server', url, path: ['url'] }, ...headerRequirements(headers, 'a memory')],
  create,
};

async function create(options: HttpMemoryOptions, { clock, env }: PluginContext) {
  const headers = filledHeaders(options.headers, env);
  const { url, timeout_s: timeoutS, retries } = options;
  const redact = redactor(Object.values(headers));
  const client = new MemoryClient({ url, headers, timeoutS, retries, clock, redact });
  const { capabilities: told } = await about(client, options);
  const limits = [options.max_concurrency, told.max_concurrency].filter((limit) => limit !== undefined);
  return serviceBackend({
    name: 'http',
    topK: options.top_k,
    clock,
    pollMs: options.poll_interval_s * 1000,
    capabilities: {
      stores: true,
      rewrites: told.rewrites,
      provenance: told.provenance,
      honours_k: told.honours_k,
      needs_network: true,
      needs_key: Object.values(options.headers).some((value) => referencesIn(value).length > 0),
      ...(limits.length > 0 ? { max_concurrency: Math.min(...limits) } : {}),
    },
    async open(scopeId, call) {
      const store = new HttpStore({ client, scopeId, call, clock });
      // What a run that was killed left under this id.
      if ((await store.all()).length > 0) {
        await store.clear();
        const left = (await store.all()).length;
        if (left > 0) throw notCleared(left);
        store.reopened();
      }
      return store;
    },
  });
}

const untold: Asking = { signal: new AbortController().signal, stage: 'prime', meter: { add: () => {} } };

/** What the memory says of itself, held against what its file says: a difference would change how records read. */
async function about(client: MemoryClient, options: HttpMemoryOptions): Promise<MemoryAbout> {
  const request: MemoryRequest = { method: 'GET', path: [''] };
  const answer = await client.send(request, [200], untold);
  const told = client.parsed(memoryAboutSchema, request, answer);
  if (told.protocol !== MEMORY_PROTOCOL) {
    throw new HeamsError(`memory: GET /: it speaks version ${told.protocol} of the protocol`, {
      code: 'memory_protocol',
      expected: `version ${MEMORY_PROTOCOL}`,
      found: String(told.protocol),
      hint: 'use a memory and a HEAMS of the same version of the protocol',
    });
  }
  for (const key of ['rewrites', 'provenance', 'honours_k'] as const) {
    if (told.capabilities[key] === options[key]) continue;
    throw new HeamsError(`memory: GET /: it says ${key}: ${told.capabilities[key]}, and its file ${options[key]}`, {
      code: 'memory_capabilities_differ',
      expected: `${key}: ${options[key]}, as in the memory file`,
      found: `${key}: ${told.capabilities[key]}`,
      hint: `write ${key}: ${told.capabilities[key]} into the memory file if that is so`,
    });
  }
  return told;
}

const notCleared = (count: number) =>
  new HeamsError(`the memory still holds ${count} items of a scope that was deleted`, {
    code: 'memory_not_cleared',
    expected: 'nothing left of the scope',
    found: `${count} items`,
    hint: 'look at how the memory deletes a scope',
  });

interface StoreParts {
  client: MemoryClient;
  scopeId: string;
  call: CallContext;
  clock: Clock;
}

class HttpStore implements ServiceStore {
  readonly #parts: StoreParts;
  #asking: Asking;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#asking = parts.call;
  }

  /** From now on requests are given up with the run again, as they were before the scope was cleared. */
  reopened(): void {
    this.#asking = this.#parts.call;
  }

  async add(facts: readonly Fact[]): Promise<void> {
    const told = facts.map(({ id, key, text, at, session }) => ({
      ...{ id, key, text },
      ...(at === undefined ? {} : { at }),
      ...(session === undefined ? {} : { session }),
    }));
    await this.#send('POST', 'facts', [200, 201, 202, 204], { facts: told });
  }

  async settled(): Promise<boolean> {
    const { request, answer } = await this.#send('GET', 'ready', [200, 202]);
    const { ready } = this.#parts.client.parsed(memoryReadySchema, request, answer);
    if (ready === (answer.status === 200)) return ready;
    const problem = `ready: ${ready} with status ${answer.status}`;
    throw this.#parts.client.badResponse(request, answer.status, problem, JSON.stringify(answer.body));
  }

  async find(query: string, k: number) {
    const { request, answer } = await this.#send('POST', 'search', [200], { query, k });
    const { items } = this.#parts.client.parsed(memoryFoundSchema, request, answer);
    return { items, raw: answer.body as Json };
  }

  async all() {
    const { request, answer } = await this.#send('GET', 'items', [200]);
    return this.#parts.client.parsed(memoryListedSchema, request, answer).items;
  }

  async clear(): Promise<void> {
    // It cleans up, also after a run that is given up.
    this.#asking = { ...this.#parts.call, signal: new AbortController().signal };
    await this.#send('DELETE', undefined, [200, 204, 404]);
  }

  async #send(method: MemoryRequest['method'], what: string | undefined, statuses: readonly number[], body?: Json) {
    const path = ['scopes', this.#parts.scopeId, ...(what === undefined ? [] : [what])];
    const request: MemoryRequest = { method, path, ...(body === undefined ? {} : { body }) };
    return { request, answer: await this.#parts.client.send(request, statuses, this.#asking) };
  }
}
