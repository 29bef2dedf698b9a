import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import { HeamsError } from '../lib/errors.ts';
import { excerpt } from '../lib/excerpt.ts';
import {
  AGENT_PROTOCOL,
  type AgentRequest,
  type AgentUsage,
  agentReplySchemas,
  type ErrorReply,
} from '../schema/agent-protocol.ts';
import { badReply } from './remote-errors.ts';

/** How a request gets to an agent and its reply back. */
export interface Transport {
  /** Resolves to the reply as JSON, not checked yet. Rejects with a `HeamsError`, or the signal's reason. */
  send(request: AgentRequest, call: CallContext): Promise<Received>;
  /** From here on, the scope's requests go to the place that holds its memory, where there are several. */
  hold?(scope: string): void;
  letGo?(scope: string): void;
  close(): Promise<void>;
}

export interface Received {
  value: unknown;
  /** What the transport has to say about the reply. */
  warnings?: readonly string[];
}

type ReplyKind = keyof typeof agentReplySchemas;
type ReplyOf<K extends ReplyKind> = { kind: K; reply: z.infer<(typeof agentReplySchemas)[K]> };
export type Answer<K extends ReplyKind> = { [One in K]: ReplyOf<One> & { warnings: string[] } }[K];

/** A request as its maker gives it; what is in every request is added. */
export type Asked = AgentRequest extends infer R
  ? R extends AgentRequest
    ? Omit<R, 'protocol' | 'id'>
    : never
  : never;

export interface RemoteClient {
  /** Sends a request and gives the checked reply, which must be of one of the kinds. Its usage is metered. */
  ask<K extends Exclude<ReplyKind, 'error'>>(asked: Asked, kinds: readonly K[], call: CallContext): Promise<Answer<K>>;
  hold(scope: string): void;
  letGo(scope: string): void;
  close(): Promise<void>;
}

export interface RemoteClientOptions {
  /** The agent's name, for errors. */
  name: string;
  transport: Transport;
  /** Takes secrets out of a text. */
  redact(text: string): string;
}

/** Speaks the agent protocol over a transport: builds requests, checks replies, meters what the agent says it spent. */
export function remoteClient(options: RemoteClientOptions): RemoteClient {
  const { transport } = options;
  // Tells requests apart and decides nothing else, so it need not come from the run's randomness.
  const process = randomBytes(6).toString('hex');
  let sent = 0;
  return {
    async ask(asked, kinds, call) {
      call.signal.throwIfAborted();
      sent += 1;
      const request = { protocol: AGENT_PROTOCOL, id: `${process}-${sent}`, ...asked } as AgentRequest;
      const { value, warnings = [] } = await transport.send(request, call);
      const { kind, reply } = checked(value, [...kinds, 'error' as const], options);
      if (reply.id !== undefined && reply.id !== request.id) {
        throw badReply(options.name, 'the reply has the id of another request', excerpt(reply.id, options.redact));
      }
      if (kind === 'error') throw saidNo(reply as ErrorReply, options);
      if (kind !== 'forgotten') meter((reply as { usage?: AgentUsage }).usage, call);
      const own = (reply as { warnings?: string[] }).warnings ?? [];
      return { kind, reply, warnings: [...own.map(options.redact), ...warnings] } as Answer<(typeof kinds)[number]>;
    },
    hold: (scope) => transport.hold?.(scope),
    letGo: (scope) => transport.letGo?.(scope),
    close: () => transport.close(),
  };
}

/** The reply as one of the kinds that may come; the kind shows by its key. */
function checked(value: unknown, kinds: readonly ReplyKind[], { name, redact }: RemoteClientOptions) {
  const shown = () => excerpt(JSON.stringify(value) ?? 'nothing', redact);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw badReply(name, 'the reply is not an object', shown());
  }
  // `message` last: a reply to `tell` may have one beside its own key.
  const order = ['error', 'forgotten', 'told', 'tool_calls', 'message'] as const;
  const kind = order.find((one) => Object.hasOwn(value, one));
  if (kind === undefined || !kinds.includes(kind)) {
    const expected = kinds.filter((one) => one !== 'error').map((one) => `"${one}"`);
    throw badReply(name, `the reply has no ${expected.join(' or ')}`, shown());
  }
  const parsed = agentReplySchemas[kind].safeParse(value);
  if (parsed.success) return { kind, reply: parsed.data };
  const [issue] = parsed.error.issues;
  const at = issue?.path.join('.') || 'the reply';
  throw badReply(
    name,
    `the reply is wrong at ${excerpt(at, redact)}: ${excerpt(issue?.message ?? '', redact)}`,
    shown(),
  );
}

function saidNo({ error }: ErrorReply, { name, redact }: RemoteClientOptions): HeamsError {
  return new HeamsError(`agent "${name}": ${excerpt(error.code, redact, 60)}: ${excerpt(error.message, redact, 500)}`, {
    code: 'agent_error',
    hint: 'the agent answered with an error of its own',
  });
}

/** The agent's word, as no one else can know. A call without a cost counts as unpriced, as it does for models. */
function meter(usage: AgentUsage | undefined, call: CallContext): void {
  const { calls = 1, input_tokens = 0, output_tokens = 0, cost_usd } = usage ?? {};
  call.meter.add(call.stage, {
    calls,
    input_tokens,
    output_tokens,
    ...(cost_usd === undefined ? { unpriced_calls: calls } : { cost_usd }),
  });
}
