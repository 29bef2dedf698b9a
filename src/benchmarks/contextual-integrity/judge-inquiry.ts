import type { CallContext } from '../../contracts/call.ts';
import { type ChatModel, type ChatReply, type ChatRequest, ModelError } from '../../contracts/model.ts';
import type { Answer, Parsed } from './parse-reply.ts';

/** Why there is no verdict, with the reply as it came. */
interface Unjudged {
  status: 'unjudged';
  reason: 'malformed' | 'cut_off' | 'refused' | 'empty';
  detail: string;
  raw: string;
  attempts: number;
  model_version?: string;
}

interface Judged<V> extends Answer<V> {
  status: 'judged';
  raw: string;
  attempts: number;
  model_version?: string;
}

export type Verdict<V> = Judged<V> | Unjudged;

/** One question to a judge model, about one item or about several numbered ones. */
export interface Inquiry<V> {
  numbers: readonly number[];
  /** Output tokens of the first attempt; each further one has twice as many. */
  room: number;
  /** What to send, for the items that are still open. */
  request(open: readonly number[]): Pick<ChatRequest, 'messages'> & Required<Pick<ChatRequest, 'jsonSchema'>>;
  parse(text: string, open: readonly number[]): Map<number, Parsed<V>>;
}

const maxAttempts = 3;
const maxRefusals = 2;

/**
 * Asks until every item has a verdict: at most three times, each time with twice the room and only for what is still
 * open; at most twice where the model declines. The larger room also sets a new attempt apart from a cached one.
 * What is open then is unjudged, with the last reply. Throws what the model throws.
 */
export async function inquire<V>(
  inquiry: Inquiry<V>,
  model: ChatModel,
  call: CallContext,
): Promise<Map<number, Verdict<V>>> {
  const verdicts = new Map<number, Verdict<V>>();
  let open = inquiry.numbers;
  let refusals = 0;
  for (let attempt = 1; open.length > 0 && attempt <= maxAttempts && refusals < maxRefusals; attempt++) {
    const reply = await ask(inquiry, { open, attempt, model, call });
    if (reply === 'no more room') break;
    for (const [number, verdict] of readReply(inquiry, reply, open, attempt)) verdicts.set(number, verdict);
    open = open.filter((number) => verdicts.get(number)?.status !== 'judged');
    if (reply.finishReason === 'refused') refusals += 1;
  }
  return verdicts;
}

interface Attempt {
  open: readonly number[];
  attempt: number;
  model: ChatModel;
  call: CallContext;
}

async function ask<V>(
  inquiry: Inquiry<V>,
  { open, attempt, model, call }: Attempt,
): Promise<ChatReply | 'no more room'> {
  const { messages, jsonSchema } = inquiry.request(open);
  const maxTokens = inquiry.room * 2 ** (attempt - 1);
  try {
    return await model.generate({ messages, maxTokens, jsonSchema }, call);
  } catch (error) {
    // The first request was accepted, so what is bad about this one is its larger room: there is no more to be had.
    if (attempt > 1 && error instanceof ModelError && error.kind === 'bad_request') return 'no more room';
    throw error;
  }
}

function readReply<V>(
  inquiry: Inquiry<V>,
  reply: ChatReply,
  open: readonly number[],
  attempts: number,
): Map<number, Verdict<V>> {
  const common = {
    raw: reply.text,
    attempts,
    ...(reply.modelVersion === undefined ? {} : { model_version: reply.modelVersion }),
  };
  const unjudged = (reason: Unjudged['reason'], detail: string): Unjudged => ({
    status: 'unjudged',
    reason,
    detail,
    ...common,
  });
  const all = (verdict: Verdict<V>) => new Map(open.map((number) => [number, verdict]));

  if (reply.finishReason === 'cut_off') return all(unjudged('cut_off', 'the reply ended at the token limit'));
  if (reply.finishReason === 'refused') return all(unjudged('refused', 'the model or its filter declined'));
  if (reply.text.trim() === '') return all(unjudged('empty', 'the reply holds no text'));
  const parsed = inquiry.parse(reply.text, open);
  return new Map(
    open.map((number): [number, Verdict<V>] => {
      const one = parsed.get(number) ?? { ok: false, detail: 'the reply passes this item over' };
      return [number, one.ok ? { status: 'judged', ...one.answer, ...common } : unjudged('malformed', one.detail)];
    }),
  );
}
