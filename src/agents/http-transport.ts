import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { CallContext, Clock } from '../contracts/call.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { excerpt } from '../lib/excerpt.ts';
import { sleepOn } from '../lib/on-abort.ts';
import type { Random } from '../lib/random.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import { VERSION } from '../lib/version.ts';
import { withinTime } from '../lib/within-time.ts';
import { Limiter } from '../models/limiter.ts';
import type { Received, Transport } from './remote-client.ts';
import { MAX_REPLY_BYTES, noAnswer, parseReply, tooLarge } from './remote-errors.ts';

export interface HttpTransportOptions {
  /** The agent's name, for errors. */
  name: string;
  url: string;
  /** With references to the environment filled in. */
  headers: Readonly<Record<string, string>>;
  timeoutS: number;
  /** How often a request is sent again at most. */
  retries: number;
  maxConnections: number;
  clock: Clock;
  random: Random;
  redact(text: string): string;
}

const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const BASE_MS = 500;
const CAP_MS = 30_000;
/** The most that one request spends waiting between attempts. */
const MAX_WAIT_MS = 300_000;

/** Posts each request as JSON and reads the reply. No redirect is followed: what is sent goes to the configured address. */
export function httpTransport(options: HttpTransportOptions): Transport {
  const { clock, retries, random, maxConnections } = options;
  const limiter = new Limiter({ max: maxConnections, clock });
  const secure = new URL(options.url).protocol === 'https:';
  const connections = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const send = secure ? requestHttps : requestHttp;

  async function attempt(body: string, call: CallContext): Promise<Received> {
    const slot = await limiter.acquire(call.signal);
    try {
      const response = await withinTime((signal) => post(send, body, { options, signal, agent: connections }), {
        seconds: options.timeoutS,
        clock: options.clock,
        signal: call.signal,
        late: () => noAnswer(options.name, options.timeoutS),
      });
      const received = { value: read(response, options) };
      slot.release('answered');
      return received;
    } catch (error) {
      const refused = error instanceof PassingError && (error.status === 429 || error.status === 503);
      slot.release(refused ? 'refused' : 'failed', refused ? error.waitMs : undefined);
      throw error;
    }
  }

  return {
    async send(request, call) {
      const body = JSON.stringify(request);
      let waitedMs = 0;
      for (let tried = 0; ; tried++) {
        try {
          return await attempt(body, call);
        } catch (error) {
          call.signal.throwIfAborted();
          if (!(error instanceof PassingError)) throw error;
          const backoff = Math.min(CAP_MS, BASE_MS * 2 ** tried) * random();
          const waitMs = error.waitMs === undefined ? backoff : error.waitMs + random() * BASE_MS;
          if (tried >= retries || waitedMs + waitMs > MAX_WAIT_MS) throw error.givenUp(tried + 1, waitedMs);
          call.meter.add(call.stage, { retries: 1 });
          await sleepOn(clock, waitMs, call.signal);
          waitedMs += waitMs;
        }
      }
    },
    async close() {
      connections.destroy();
    },
  };
}

/** What may pass by itself: a server that is busy or away, or a connection that broke. */
class PassingError extends HeamsError {
  readonly status: number | undefined;
  /** What the server asked for in Retry-After. */
  readonly waitMs: number | undefined;

  constructor(
    message: string,
    { code, status, waitMs }: { code: string; status?: number; waitMs?: number | undefined },
  ) {
    super(message, { code, hint: 'look at the agent; raise retries where it needs longer' });
    this.status = status;
    this.waitMs = waitMs;
  }

  givenUp(attempts: number, waitedMs: number): HeamsError {
    const story = `given up after ${attempts} attempt${attempts === 1 ? '' : 's'} and ${Math.round(waitedMs / 1000)} s of waiting`;
    const { code, hint = '' } = this;
    return new HeamsError(`${this.message} (${story})`, { code, hint });
  }
}

interface HttpResponse {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}

interface Posting {
  options: HttpTransportOptions;
  signal: AbortSignal;
  agent: HttpAgent | HttpsAgent;
}

function post(send: typeof requestHttp, body: string, { options, signal, agent }: Posting): Promise<HttpResponse> {
  const bytes = Buffer.from(body);
  const headers = {
    'user-agent': `heams/${VERSION}`,
    accept: 'application/json',
    ...lowerCased(options.headers),
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  };
  const settings: RequestOptions = { method: 'POST', headers, agent, signal };
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => reject(signal.aborted ? signal.reason : broken(error, options));
    const request = send(options.url, settings, (response) => {
      collect(response, options).then(resolve, failed);
    });
    request.once('error', failed);
    request.end(bytes);
  });
}

const lowerCased = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The whole body, up to the limit; beyond it the connection is closed and nothing more is read. */
async function collect(response: IncomingMessage, { name }: HttpTransportOptions): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > MAX_REPLY_BYTES) throw tooLarge(name, MAX_REPLY_BYTES);
    chunks.push(chunk as Buffer);
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([key, value]) => [key, Array.isArray(value) ? value[0] : value]),
  );
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks) };
}

/** An error of the socket. A name that cannot be found and a certificate that is wrong do not pass by themselves. */
function broken(error: unknown, { name, redact }: HttpTransportOptions): HeamsError {
  if (error instanceof HeamsError) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  const text = `agent "${name}": no answer from its address (${excerpt(code || messageOf(error), redact)})`;
  if (/^(ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|HPE_|ERR_STREAM)/.test(code)) {
    return new PassingError(text, { code: 'agent_unreachable' });
  }
  return new HeamsError(text, { code: 'agent_unreachable', hint: 'check url in the agent file' });
}

/** The reply of a request that was answered with a success; an error for any other. */
function read({ status, headers, body }: HttpResponse, options: HttpTransportOptions): unknown {
  const { name, redact, clock } = options;
  if (status >= 200 && status < 300) return parseReply(body, name, redact);
  const said = excerpt(plain(body.subarray(0, 4000).toString('utf8')), redact);
  const text = `agent "${name}": HTTP ${status}${said === '' ? '' : `: ${said}`}`;
  if (RETRIED.has(status)) {
    const code = status === 429 ? 'agent_rate_limit' : 'agent_unavailable';
    throw new PassingError(text, { code, status, waitMs: retryAfterMs(headers, clock.now()) });
  }
  if (status === 401 || status === 403) {
    throw new HeamsError(text, {
      code: 'agent_auth',
      hint: 'check headers in the agent file, and the key they refer to',
    });
  }
  if (status >= 300 && status < 400) {
    throw new HeamsError(text, {
      code: 'agent_redirect',
      hint: 'the agent answers from another address: name that one in url',
    });
  }
  throw new HeamsError(text, {
    code: status === 404 ? 'agent_not_found' : 'agent_http_error',
    hint: status === 404 ? 'check url in the agent file' : "look at the agent's own log",
  });
}

/** An error page without its markup, and the words of an error that is JSON. */
function plain(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    if (error && typeof error.message === 'string') return `${String(error.code ?? 'error')}: ${error.message}`;
  } catch {
    // Not JSON, which is as good.
  }
  return text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ');
}
