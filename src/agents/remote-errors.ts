import { HeamsError } from '../lib/errors.ts';
import { excerpt } from '../lib/excerpt.ts';

/** The reply is not what the protocol has. The message tells what came, as records keep nothing else of an error. */
export function badReply(agent: string, problem: string, found?: string): HeamsError {
  const came = found === undefined ? '' : `; it begins: ${found === '' ? '(nothing)' : found}`;
  return new HeamsError(`agent "${agent}": ${problem}${came}`, {
    code: 'agent_bad_reply',
    expected: 'a reply of the agent protocol',
    hint: 'docs/agent-protocol.md says what an agent answers',
  });
}

export function tooLarge(agent: string, limit: number): HeamsError {
  return new HeamsError(`agent "${agent}": the reply is larger than ${limit} bytes`, {
    code: 'agent_reply_too_large',
    expected: `at most ${limit} bytes`,
  });
}

export function noAnswer(agent: string, seconds: number, more = ''): HeamsError {
  return new HeamsError(`agent "${agent}": no answer within ${seconds} s${more}`, {
    code: 'agent_timeout',
    hint: 'raise timeout_s in the agent file, or look at the agent',
  });
}

/** No reply may be larger: what an agent sends is held in memory and goes into a record. */
export const MAX_REPLY_BYTES = 8 * 1024 * 1024;

/** The JSON value that bytes from outside hold. */
export function parseReply(bytes: Uint8Array, agent: string, redact: (text: string) => string): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const found = excerpt(new TextDecoder().decode(bytes.subarray(0, 1000)), redact);
    throw badReply(agent, 'the reply is not UTF-8', found);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw badReply(agent, 'the reply is not JSON', excerpt(text, redact));
  }
}
