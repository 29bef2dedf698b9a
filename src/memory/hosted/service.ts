import type { CallContext } from '../../contracts/call.ts';
import type { PluginContext } from '../../contracts/plugin.ts';
import { envVariable } from '../../lib/env-references.ts';
import { HeamsError } from '../../lib/errors.ts';
import { sleepOn } from '../../lib/on-abort.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { withinTime } from '../../lib/within-time.ts';
import { redactor } from '../../models/redact.ts';
import type { HostedOptions } from './options.ts';

/** What a client library threw, as far as it can be told. */
export interface Refusal {
  /** Absent where no answer came. */
  status?: number;
  /** Of the answer, names in lower case. */
  headers?: Readonly<Record<string, string | undefined>>;
  /** The server's own words. */
  text: string;
}

export interface ServiceSpec {
  /** As people call it: "Zep". */
  name: string;
  options: HostedOptions;
  context: Pick<PluginContext, 'clock' | 'env'>;
  /** Reads what the client library throws. */
  read(error: unknown): Refusal;
}

/** Asks one request; `signal` ends it. */
export type Request<T> = (signal: AbortSignal) => Promise<T>;

/** A hosted system as one scope sees it. */
export interface ServiceScope {
  /** Asks once more after a refusal that passes, a few times and never before its Retry-After is over. */
  ask<T>(what: string, request: Request<T>): Promise<T>;
  /** The same for what the service charges for: counted, at a price that nobody here knows. */
  pay<T>(what: string, request: Request<T>): Promise<T>;
  /**
   * The same for what must not be done twice: asked again only after a refusal that says that nothing was done. A fact
   * that is stored twice takes two of the k places of a search.
   */
  payOnce<T>(what: string, request: Request<T>): Promise<T>;
  /** From now on requests outlive the run's signal: they clean up. */
  cleaning(): void;
}

export interface Service {
  readonly key: string;
  scope(call: CallContext): ServiceScope;
  /** Looks a few times whether something is done; whether it was in the end. */
  waited(done: () => Promise<boolean>): Promise<boolean>;
  /**
   * Removes until nothing is left: some systems answer before they have deleted.
   *
   * @throws HeamsError `memory_not_cleared`.
   */
  emptied(remove: () => Promise<unknown>, left: () => Promise<number>): Promise<void>;
}

/** Attempts at one request, the first included. */
const ATTEMPTS = 5;
const BACKOFF_MS = 500;
/** The most that one request spends waiting between attempts, in milliseconds. */
const PATIENCE_MS = 120_000;
/** Looks at what has not taken hold yet, where the end of a run waits for it. */
const LOOKS = 10;
/** How much of a server's own words goes into a message, in characters. */
const EXCERPT = 300;
const NOT_FOUND = 'memory_not_found';

/** Statuses by which a server says that it has not done what it was asked, and might later. */
const undone = ({ status }: Refusal): boolean => status === 429 || status === 503;
const passes = ({ status }: Refusal): boolean =>
  status === undefined || status === 408 || status === 429 || status >= 500;

/**
 * A hosted memory system behind its own client library: its key, deadlines, retries and errors are handled the same way
 * for all of them. The client library's own retries are to be switched off.
 *
 * @throws HeamsError `missing_variable` where the key is not set.
 */
export function hostedService(spec: ServiceSpec): Service {
  const { name, options, context } = spec;
  const key = envVariable(context.env, options.api_key_env);
  if (key === undefined) {
    throw new HeamsError(`${options.api_key_env} is not set`, {
      code: 'missing_variable',
      expected: `${options.api_key_env} in the environment or in a .env file here, for ${name}`,
      found: 'nothing',
      hint: `set ${options.api_key_env}`,
    });
  }
  const redact = redactor([key]);
  const { clock } = context;
  const waited = async (done: () => Promise<boolean>): Promise<boolean> => {
    for (let look = 1; ; look++) {
      if (await done()) return true;
      if (look === LOOKS) return false;
      await clock.sleep(options.poll_interval_s * 1000);
    }
  };
  return {
    key,
    scope(call) {
      let { signal } = call;
      const ask = <T>(what: string, request: Request<T>): Promise<T> =>
        attempts({ spec, redact, call, signal, what, request, again: passes });
      const paid = async <T>(answer: Promise<T>): Promise<T> => {
        const given = await answer;
        call.meter.add(call.stage, { calls: 1, unpriced_calls: 1 });
        return given;
      };
      return {
        ask,
        pay: (what, request) => paid(ask(what, request)),
        payOnce: (what, request) => paid(attempts({ spec, redact, call, signal, what, request, again: undone })),
        cleaning() {
          signal = new AbortController().signal;
        },
      };
    },
    waited,
    async emptied(remove, left) {
      let count = 0;
      const gone = await waited(async () => {
        await remove();
        count = await left();
        return count === 0;
      });
      if (gone) return;
      throw new HeamsError(`${name} still holds ${count} items of a scope after ${LOOKS} looks`, {
        code: 'memory_not_cleared',
        expected: 'nothing left of the scope',
        found: `${count} items`,
        hint: `delete what is left with ${name}'s own tools, and report it to its makers`,
      });
    },
  };
}

interface Attempts<T> {
  spec: ServiceSpec;
  redact(text: string): string;
  call: CallContext;
  signal: AbortSignal;
  what: string;
  request: Request<T>;
  /** After which refusals it is asked again. */
  again(refusal: Refusal): boolean;
}

async function attempts<T>({ spec, redact, call, signal, what, request, again }: Attempts<T>): Promise<T> {
  const { clock } = spec.context;
  let waited = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      const late = () => new LateAnswer(`no answer within ${spec.options.timeout_s} s`);
      return await withinTime(request, { seconds: spec.options.timeout_s, clock, signal, late });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HeamsError) throw error;
      const refusal = spec.read(error);
      const wait = retryAfterMs(refusal.headers ?? {}, clock.now()) ?? BACKOFF_MS * 2 ** (attempt - 1);
      if (!again(refusal) || attempt === ATTEMPTS || waited + wait > PATIENCE_MS) {
        throw failure({ spec, what, refusal: { ...refusal, text: redact(refusal.text) }, attempt });
      }
      call.meter.add(call.stage, { retries: 1 });
      await sleepOn(clock, wait, signal);
      waited += wait;
    }
  }
}

class LateAnswer extends Error {}

function failure(given: { spec: ServiceSpec; what: string; refusal: Refusal; attempt: number }): HeamsError {
  const { spec, what, refusal, attempt } = given;
  const { name, options } = spec;
  const { status } = refusal;
  const tries = attempt === 1 ? '' : ` (attempt ${attempt})`;
  const said = refusal.text.trim().slice(0, EXCERPT);
  const build = (code: string, message: string, hint: string) =>
    new HeamsError(`${name}: ${what}: ${message}${tries}${said === '' ? '' : `: ${said}`}`, { code, hint });
  const answered = status === undefined ? 'no answer' : `HTTP ${status}`;
  if (status === 401 || status === 403) {
    const variable = options.api_key_env;
    return build('memory_auth', `the key in ${variable} was refused, ${answered}`, `check ${variable}`);
  }
  if (status === 402 || status === 413)
    return build('memory_quota', answered, `look at the plan of the ${name} account`);
  if (status === 429) {
    return build('memory_rate_limited', answered, 'set max_concurrency in the memory file to what the plan bears');
  }
  if (status === 404) return build(NOT_FOUND, answered, `look at base_url and at what ${name} says`);
  if (passes(refusal)) return build('memory_unavailable', answered, `look at ${name}, then run the same command again`);
  return build('memory_refused', answered, `look at what ${name} says`);
}

/** The answer of an operation on what may not be there: `absent` in place of a 404. */
export async function unlessMissing<T, A>(asked: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof HeamsError && error.code === NOT_FOUND) return absent;
    throw error;
  }
}
