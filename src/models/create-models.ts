import type { Clock } from '../contracts/call.ts';
import type { ChatModel, ChatReply, ChatRequest, EmbeddingModel } from '../contracts/model.ts';
import { canonicalJson, sha256 } from '../lib/hash.ts';
import type { Random } from '../lib/random.ts';
import type { ModelSettings } from '../schema/model-settings.ts';
import type { Journal } from './journal.ts';
import { ANSWER_BYTES, limitedBody } from './limited-body.ts';
import { Limiter } from './limiter.ts';
import type { ModelCall, TokenUsage } from './model-call.ts';
import { findPrice } from './prices.ts';
import type { Connection, EmbeddingClient, Env } from './provider.ts';
import { resolveModel } from './providers.ts';
import { type Budget, withBudget } from './with-budget.ts';
import { withCache } from './with-cache.ts';
import { withDeadline } from './with-deadline.ts';
import { withLimit } from './with-limit.ts';
import { withRetry } from './with-retry.ts';
import { withUsage } from './with-usage.ts';

export interface ModelFactoryOptions {
  env: Env;
  clock: Clock;
  random: Random;
  /** Requests in flight at once to one provider and account, where a model's settings name no other number. */
  maxConnections: number;
  budget?: Budget;
  /** Folder of the response cache; without one nothing is cached. */
  cacheDir?: string;
  /** Keeps the replies of unfinished jobs. */
  journal?: Journal;
  fetch?: typeof fetch;
}

/** One run's models: equal settings give the same model, and one account has one limiter, whatever models it serves. */
export interface ModelFactory {
  chat(settings: ModelSettings): Promise<ChatModel>;
  embedder(settings: ModelSettings): Promise<EmbeddingModel>;
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_S = 120;
/** An embedding request holds at most this many bytes of text: OpenAI takes 300,000 tokens, and no token is shorter. */
const BATCH_BYTES = 200_000;

export function createModelFactory(options: ModelFactoryOptions): ModelFactory {
  const limiters = new Map<string, Limiter>();
  const chats = new Map<string, Promise<ChatModel>>();
  const embedders = new Map<string, Promise<EmbeddingModel>>();
  return {
    chat: (settings) => once(chats, canonicalJson(settings), () => createChat(settings, options, limiters)),
    embedder: (settings) => once(embedders, canonicalJson(settings), () => createEmbedder(settings, options, limiters)),
    close: async () => {
      const made = await Promise.allSettled(embedders.values());
      await Promise.all(made.map((one) => (one.status === 'fulfilled' ? one.value.close?.() : undefined)));
      chats.clear();
      embedders.clear();
    },
  };
}

/** One promise a key. A creation that fails is forgotten, so that it can be tried again. */
function once<T>(made: Map<string, Promise<T>>, key: string, create: () => Promise<T>): Promise<T> {
  const known = made.get(key);
  if (known) return known;
  const fresh = create();
  made.set(key, fresh);
  fresh.catch(() => made.delete(key));
  return fresh;
}

type Limiters = Map<string, Limiter>;

async function createChat(
  settings: ModelSettings,
  options: ModelFactoryOptions,
  limiters: Limiters,
): Promise<ChatModel> {
  const { provider, model, ...access } = resolveModel(settings, options.env, 'chat');
  const connection = connectionTo(settings, model, access, { ...options, answerBytes: ANSWER_BYTES.chat });
  // `resolveModel` has made sure that the provider has chat models.
  const client = await (provider.chat as NonNullable<typeof provider.chat>)(connection);
  const limiter = limiterFor(provider.name, connection, options, limiters);
  const guarded = guard<ChatRequest, ChatReply>((request, call) => client.generate(request, call), {
    connection,
    options,
    limiter,
  });
  const { cacheDir, journal } = options;
  const identity = identityOf(connection);
  const cached =
    cacheDir === undefined || provider.free
      ? guarded
      : withCache(guarded, { dir: cacheDir, modelId: settings.model_id, identity });
  const generate = journal ? journal.wrap(cached, { model: settings.model_id, identity }) : cached;
  return {
    id: settings.model_id,
    get structuredOutput() {
      return client.structuredOutput;
    },
    generate,
  };
}

async function createEmbedder(
  settings: ModelSettings,
  options: ModelFactoryOptions,
  limiters: Limiters,
): Promise<EmbeddingModel> {
  const { provider, model, ...access } = resolveModel(settings, options.env, 'embedding');
  const connection = connectionTo(settings, model, access, { ...options, answerBytes: ANSWER_BYTES.embedding });
  const client = await (provider.embedding as NonNullable<typeof provider.embedding>)(connection);
  const limiter = limiterFor(provider.name, connection, options, limiters);
  const embed = guard(client.embed, { connection, options, limiter });
  return {
    id: settings.model_id,
    embed: async (texts, call) => {
      const replies = await Promise.all(batches(texts, client).map((batch) => embed(batch, call)));
      return replies.flatMap(({ vectors }) => vectors);
    },
  };
}

function connectionTo(
  settings: ModelSettings,
  model: string,
  access: Pick<Connection, 'baseUrl' | 'apiKey'>,
  { env, clock, fetch: given, answerBytes }: ModelFactoryOptions & { answerBytes: number },
): Connection {
  return {
    modelId: settings.model_id,
    model,
    settings,
    ...access,
    headers: settings.headers ?? {},
    env,
    fetch: limitedBody(staying(given ?? globalThis.fetch), answerBytes, settings.model_id),
    now: () => clock.now(),
  };
}

/** Follows no redirect: prompts and keys go to the address in the config and nowhere else. */
function staying(inner: typeof fetch): typeof fetch {
  return (input, init) => inner(input, { ...init, redirect: 'manual' });
}

interface Guards {
  connection: Connection;
  options: ModelFactoryOptions;
  limiter: Limiter;
}

/**
 * Retry, limit, budget, deadline, usage, from the outside in: nothing holds a slot while it waits to try again, and the
 * budget is asked when a slot is free, not when a call begins to wait for one.
 */
function guard<I, O extends { usage: TokenUsage }>(
  inner: ModelCall<I, O>,
  { connection: { modelId, settings, baseUrl }, options: { clock, random, budget }, limiter }: Guards,
): ModelCall<I, O> {
  const timeoutMs = (settings.timeout_s ?? DEFAULT_TIMEOUT_S) * 1000;
  const metered = withUsage(inner, { price: findPrice(modelId, baseUrl) });
  const timed = withDeadline(metered, { clock, timeoutMs, modelId });
  const budgeted = budget ? withBudget(timed, budget) : timed;
  return withRetry(withLimit(budgeted, limiter), { clock, random });
}

/** The limiter of the account: who answers, and whose key is charged. */
function limiterFor(
  provider: string,
  connection: Connection,
  options: ModelFactoryOptions,
  limiters: Limiters,
): Limiter {
  const { baseUrl = '', apiKey = '', settings } = connection;
  const account = `${provider} ${baseUrl} ${sha256(apiKey)}`;
  const max = settings.max_connections ?? options.maxConnections;
  const limiter = limiters.get(account) ?? new Limiter({ max, clock: options.clock });
  limiters.set(account, limiter);
  limiter.restrict(max);
  return limiter;
}

const credentials = /^(authorization|proxy-authorization|cookie|x-api-key|x-goog-api-key|api-key)$/i;

/** All that shapes an answer besides the request. How to reach the server, and whose key opens it, does not. */
function identityOf({ settings, baseUrl, headers }: Connection): unknown {
  const { temperature, top_p, max_tokens, seed, structured_output } = settings;
  const shaping = Object.entries(headers).filter(([name]) => !credentials.test(name));
  return { baseUrl, temperature, top_p, max_tokens, seed, structured_output, headers: Object.fromEntries(shaping) };
}

/** Cuts texts into requests that the provider takes. */
function batches(texts: readonly string[], { maxBatch }: EmbeddingClient): string[][] {
  const made: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const last = made.at(-1);
    if (last === undefined || last.length >= maxBatch || bytes + size > BATCH_BYTES) {
      made.push([text]);
      bytes = size;
    } else {
      last.push(text);
      bytes += size;
    }
  }
  return made;
}
