import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatReply, ChatRequest } from '../contracts/model.ts';
import { messageOf } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { onAbort } from '../lib/on-abort.ts';
import { chatReplySchema } from '../schema/chat-reply.ts';
import { askedOf, type ModelCall } from './model-call.ts';

/** Goes into every key: a reply stored in another format is never found. */
const FORMAT = 1;

type Entry = { format: typeof FORMAT; model: string; reply: ChatReply };

const entrySchema = z.strictObject({ format: z.literal(FORMAT), model: z.string(), reply: chatReplySchema });

export interface CacheOptions {
  dir: string;
  modelId: string;
  /** Everything besides the request that shapes an answer: address, sampling settings, headers. No key. */
  identity: unknown;
}

/**
 * Keeps whole replies on disk, one file each under `<dir>/<2 hex>/<sha256>.json`, found again by everything that shapes
 * the answer, sample and repeat included. Identical calls in flight share one request. A hit costs nothing and counts as
 * a cached call; an entry that cannot be read is asked again and replaced. A reply that cannot be stored still counts,
 * with a warning.
 */
export function withCache(
  inner: ModelCall<ChatRequest, ChatReply>,
  options: CacheOptions,
): ModelCall<ChatRequest, ChatReply> {
  const inFlight = new Map<string, Promise<ChatReply>>();

  const askAndStore = async (path: string, request: ChatRequest, call: CallContext): Promise<ChatReply> => {
    const reply = await inner(request, call);
    if (reply.finishReason !== 'stop' && reply.finishReason !== 'tool_calls') return reply;
    const problem = await store(path, { format: FORMAT, model: options.modelId, reply } satisfies Entry);
    return problem === undefined ? reply : { ...reply, warnings: [...reply.warnings, problem] };
  };

  return async (request, call) => {
    const path = pathOf(options, request, call);
    for (;;) {
      call.signal.throwIfAborted();
      const leader = inFlight.get(path);
      if (leader === undefined) break;
      const reply = await settled(leader, call.signal);
      if (reply !== undefined) return hit(reply, call);
    }
    const work = load(path).then(async (stored) => (stored ? hit(stored, call) : askAndStore(path, request, call)));
    inFlight.set(path, work);
    try {
      return await work;
    } finally {
      inFlight.delete(path);
    }
  };
}

function pathOf({ dir, identity, modelId }: CacheOptions, request: ChatRequest, call: CallContext): string {
  const key = hashOf({ format: FORMAT, model: modelId, identity, request: askedOf(request), salt: call.salt });
  return join(dir, key.slice(0, 2), `${key}.json`);
}

function hit(reply: ChatReply, call: CallContext): ChatReply {
  call.meter.add(call.stage, { cached_calls: 1 });
  return reply;
}

/** The leader's reply; `undefined` when the leader failed, which may have been by its own abort. */
function settled(leader: Promise<ChatReply>, signal: AbortSignal): Promise<ChatReply | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    const off = onAbort(signal, abort);
    const done = (reply: ChatReply | undefined) => {
      off();
      resolve(reply);
    };
    leader.then(done, () => done(undefined));
  });
}

async function load(path: string): Promise<ChatReply | undefined> {
  try {
    const entry = entrySchema.safeParse(JSON.parse(await readFile(path, 'utf8')));
    return entry.success ? (entry.data.reply as ChatReply) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes whole or not at all. Gives back what went wrong, in words. */
async function store(path: string, entry: Entry): Promise<string | undefined> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, JSON.stringify(entry));
    await rename(temporary, path);
    return undefined;
  } catch (error) {
    return `the reply could not be cached: ${messageOf(error)}`;
  }
}
