import type { z } from 'zod';
import type { CallContext, Clock } from '../../contracts/call.ts';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { excerpt } from '../../lib/excerpt.ts';
import { sleepOn } from '../../lib/on-abort.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { VERSION } from '../../lib/version.ts';
import { withinTime } from '../../lib/within-time.ts';
import type { Json } from '../../schema/json.ts';

export interface MemoryClientOptions {
  url: string;
  /** With references to the environment filled in. */
  headers: Readonly<Record<string, string>>;
  timeoutS: number;
  /** How often a request is sent again at most. */
  retries: number;
  clock: Clock;
  redact(text: string): string;
}

export interface MemoryRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the configured address; its parts are escaped. */
  path: readonly string[];
  body?: Json;
}

export interface MemoryAnswer {
  status: number;
  /** The body as JSON; absent where there is none. */
  body?: unknown;
}

/** On whose behalf a request is sent; what cleans up outlives the run's signal. */
export type Asking = Pick<CallContext, 'signal' | 'meter' | 'stage'>;

/** Larger answers are not read: they are held in memory and go into records. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Statuses by which a server says that it has not done what it was asked, and might later. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const BACKOFF_MS = 500;
/** The most that one request spends waiting between attempts, in milliseconds. */
const PATIENCE_MS = 120_000;

/** Speaks JSON over HTTP with a memory. No redirect is followed: what is sent goes to the configured address. */
export class MemoryClient {
  readonly #options: MemoryClientOptions;
  readonly #base: string;

  constructor(options: MemoryClientOptions) {
    this.#options = options;
    this.#base = options.url.replace(/\/+$/, '');
  }

  /**
   * Sends a request, again after 429 and 503, never before Retry-After is over, and gives the answer if it is one of
   * `statuses`.
   *
   * @throws HeamsError `memory_auth`, `memory_rate_limited`, `memory_unavailable`, `memory_unreachable`, `memory_timeout`,
   * `memory_not_found`, `memory_refused`, `memory_bad_response`
   */
  async send(request: MemoryRequest, statuses: readonly number[], asking: Asking): Promise<MemoryAnswer> {
    const { clock, retries } = this.#options;
    let waited = 0;
    for (let tried = 0; ; tried++) {
      const response = await this.#attempt(request, asking.signal);
      if (statuses.includes(response.status)) return this.#read(request, response);
      const wait = retryAfterMs(response.headers, clock.now()) ?? BACKOFF_MS * 2 ** tried;
      if (!BUSY.has(response.status) || tried === retries || waited + wait > PATIENCE_MS) {
        throw this.#refused(request, response, tried + 1);
      }
      asking.meter.add(asking.stage, { retries: 1 });
      await sleepOn(clock, wait, asking.signal);
      waited += wait;
    }
  }

  /** What an answer holds, by its schema. */
  parsed<T>(schema: z.ZodType<T>, request: MemoryRequest, answer: MemoryAnswer): T {
    const result = schema.safeParse(answer.body);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const at = issue?.path.join('.') || 'the body';
    throw this.badResponse(request, answer.status, `${at}: ${issue?.message}`, JSON.stringify(answer.body) ?? '');
  }

  badResponse(request: MemoryRequest, status: number, problem: string, found: string): HeamsError {
    return this.#error(request, 'memory_bad_response', `HTTP ${status}: ${problem}`, found, PROTOCOL_HINT);
  }

  async #attempt(request: MemoryRequest, signal: AbortSignal): Promise<Response> {
    const { clock, timeoutS } = this.#options;
    const late = () => this.#late(request);
    return withinTime((own) => this.#post(request, own), { seconds: timeoutS, clock, signal, late });
  }

  async #post({ method, path, body }: MemoryRequest, signal: AbortSignal): Promise<Response> {
    try {
      const response = await fetch(this.#base + address(path), {
        method,
        headers: {
          'user-agent': `heams/${VERSION}`,
          accept: 'application/json',
          ...this.#options.headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal,
      });
      const bytes = await limited(response);
      if (bytes === undefined) {
        const problem = `HTTP ${response.status}: the body has more than ${MAX_BYTES} bytes`;
        throw this.#error({ method, path }, 'memory_bad_response', problem, undefined, PROTOCOL_HINT);
      }
      return { status: response.status, headers: Object.fromEntries(response.headers), bytes };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof HeamsError) throw error;
      throw this.#unreachable({ method, path }, error);
    }
  }

  #read(request: MemoryRequest, { status, bytes }: Response): MemoryAnswer {
    if (bytes.length === 0) return { status };
    const text = new TextDecoder().decode(bytes);
    try {
      return { status, body: JSON.parse(text) as unknown };
    } catch {
      throw this.badResponse(request, status, 'the body is not JSON', text);
    }
  }

  #refused(request: MemoryRequest, { status, bytes }: Response, attempts: number): HeamsError {
    const tries = attempts === 1 ? '' : ` after ${attempts} attempts`;
    const found = new TextDecoder().decode(bytes.subarray(0, 4000));
    const build = (code: string, hint: string) => this.#error(request, code, `HTTP ${status}${tries}`, found, hint);
    if (status === 401 || status === 403)
      return build('memory_auth', 'check headers in the memory file, and their key');
    if (status === 429) return build('memory_rate_limited', 'set max_concurrency in the memory file to what it bears');
    if (status === 404) return build('memory_not_found', 'check url in the memory file');
    if (status >= 300 && status < 400) return build('memory_refused', 'name the address that it points to in url');
    if (status >= 500) return build('memory_unavailable', 'look at the memory, then run the same command again');
    return build('memory_refused', PROTOCOL_HINT);
  }

  #late(request: MemoryRequest): HeamsError {
    const hint = 'raise timeout_s in the memory file, or look at the memory';
    return this.#error(request, 'memory_timeout', `no answer within ${this.#options.timeoutS} s`, undefined, hint);
  }

  #unreachable(request: MemoryRequest, error: unknown): HeamsError {
    const { cause } = error as { cause?: { code?: unknown } };
    const why = String(cause?.code ?? messageOf(cause ?? error));
    const story = `no answer (${excerpt(why, this.#options.redact)})`;
    return this.#error(request, 'memory_unreachable', story, undefined, 'check url, and whether the memory runs');
  }

  /** Method, path, what is wrong, and how the answer begins. */
  #error(request: MemoryRequest, code: string, story: string, found: string | undefined, hint: string): HeamsError {
    const begins = found === undefined ? '' : `; it begins: ${excerpt(found, this.#options.redact) || '(nothing)'}`;
    return new HeamsError(`memory: ${request.method} ${address(request.path)}: ${story}${begins}`, { code, hint });
  }
}

interface Response {
  status: number;
  headers: Record<string, string>;
  bytes: Uint8Array;
}

const PROTOCOL_HINT = 'docs/memory-protocol.openapi.yaml says what a memory answers';

const address = (path: readonly string[]): string => `/${path.map(encodeURIComponent).join('/')}`;

/** A body up to the limit; nothing where it is larger, of which no more is read. */
async function limited(response: globalThis.Response): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
