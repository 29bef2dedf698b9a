import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import type { Json } from '../../src/schema/json.ts';
import { asksForJson, countTokens, defaultAnswer } from './loopback-answers.ts';
import { type ChatBody, type Dialect, dialectOf, type ReplyParts } from './loopback-dialects.ts';

export { defaultAnswer, fitting } from './loopback-answers.ts';
export type { ChatBody } from './loopback-dialects.ts';
export { type SpawnedLoopback, spawnLoopback } from './spawn-loopback.ts';

/** A request as it came over the wire, before any dialect is applied. */
export interface LoopbackRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: { [key: string]: Json };
}

export type LoopbackAnswer =
  | string
  | {
      text?: string;
      /** In OpenAI's words: `stop`, `length`, `content_filter`, `tool_calls`. */
      finishReason?: string;
      toolCalls?: { id?: string; name: string; input: Json }[];
    };

/** Shares of requests, 0 to 1, that meet with each fault. Drawn once a request, from a seeded generator. */
export interface LoopbackFaults {
  seed?: number | string;
  /** 429 with Retry-After. */
  rateLimit?: number;
  /** Seconds in that Retry-After. Default 1. */
  retryAfterS?: number;
  /** 500. */
  serverError?: number;
  /** The socket is closed without an answer. */
  drop?: number;
  /** No answer, ever; the socket stays open. */
  hang?: number;
  /** A normal answer whose text is broken JSON. Only requests that ask for JSON get it. */
  malformed?: number;
}

export interface LoopbackOptions {
  /** Waiting time before an answer. Default 0. */
  latencyMs?: number;
  /** `body` has OpenAI's shape whatever dialect was spoken; `n` counts requests from 0. */
  answer?: (body: ChatBody, n: number) => LoopbackAnswer | Promise<LoopbackAnswer>;
  /** Answers the request as it stands, ahead of everything else; `undefined` lets it pass. */
  raw?: (
    request: LoopbackRequest,
    n: number,
  ) => { status: number; headers?: Record<string, string>; body?: string } | undefined;
  onRequest?: (request: LoopbackRequest, n: number) => void;
  faults?: LoopbackFaults;
  /** Requests beyond this many at once get a 429. */
  maxInFlight?: number;
  /** Any other key gets a 401 that repeats the key it was sent, as careless servers do. */
  apiKey?: string;
  /** Whether replies report token counts. Default true. */
  usage?: boolean;
  /** Default 0: any free port. */
  port?: number;
}

export type LoopbackOutcome =
  | 'answered'
  | 'malformed'
  | 'rate_limit'
  | 'over_limit'
  | 'server_error'
  | 'drop'
  | 'hang'
  | 'unauthorized'
  | 'raw'
  | 'not_found';

export interface LoopbackStats {
  requests: number;
  /** Requests that got a normal answer, broken JSON included. */
  answered: number;
  inFlight: number;
  peakInFlight: number;
  /** Requests whose client closed the socket before the answer. */
  abandoned: number;
  byKind: Partial<Record<LoopbackOutcome, number>>;
}

export interface Loopback {
  /** `http://127.0.0.1:<port>`; the OpenAI dialect lives under `/v1`. */
  url: string;
  /** `base_url` for `openai` and `openai-compatible`. */
  baseUrl: string;
  port: number;
  stats: LoopbackStats;
  /** Closes every socket, hung ones included. */
  close(): Promise<void>;
}

/**
 * A server on 127.0.0.1 that speaks OpenAI chat completions and embeddings, Anthropic messages and Gemini
 * generateContent, with latency and seeded faults. GET `/stats` gives the counters.
 */
export async function startLoopback(options: LoopbackOptions = {}): Promise<Loopback> {
  const stats: LoopbackStats = { requests: 0, answered: 0, inFlight: 0, peakInFlight: 0, abandoned: 0, byKind: {} };
  const draw = drawFault(options.faults ?? {});
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    void serve({ request, response, options, stats, draw });
  });
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, baseUrl: `${url}/v1`, port, stats, close };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', backlog: 4096 }, () => resolve());
  });
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  options: LoopbackOptions;
  stats: LoopbackStats;
  draw: () => LoopbackOutcome;
}

async function serve(exchange: Exchange): Promise<void> {
  const { request, response, options, stats } = exchange;
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  if (path === '/stats') return send(response, 200, stats);

  const n = stats.requests++;
  stats.inFlight++;
  stats.peakInFlight = Math.max(stats.peakInFlight, stats.inFlight);
  response.once('close', () => {
    stats.inFlight--;
    if (!response.writableFinished) stats.abandoned++;
  });
  const count = (kind: LoopbackOutcome) => {
    stats.byKind[kind] = (stats.byKind[kind] ?? 0) + 1;
  };
  try {
    const body = JSON.parse((await readAll(request)) || '{}') as { [key: string]: Json };
    options.onRequest?.({ path, headers: request.headers, body }, n);
    const latencyMs = options.latencyMs ?? 0;
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    count(await respond(exchange, { path, headers: request.headers, body }, n));
  } catch (error) {
    if (!response.headersSent) send(response, 400, errorBody(String(error), 'invalid_request_error'));
  }
}

async function respond(exchange: Exchange, request: LoopbackRequest, n: number): Promise<LoopbackOutcome> {
  const { response, options, stats, draw } = exchange;
  const raw = options.raw?.(request, n);
  if (raw) {
    response.writeHead(raw.status, raw.headers).end(raw.body ?? '');
    return 'raw';
  }
  const key = keyOf(request.headers);
  if (options.apiKey !== undefined && key !== options.apiKey) {
    send(response, 401, errorBody(`Incorrect API key provided: ${key}`, 'invalid_api_key'));
    return 'unauthorized';
  }
  if (stats.inFlight > (options.maxInFlight ?? Number.POSITIVE_INFINITY)) {
    send(response, 429, errorBody('Too many requests at once', 'rate_limit_exceeded'));
    return 'over_limit';
  }
  const dialect = dialectOf(request.path);
  if (!dialect) {
    send(response, 404, errorBody(`No route ${request.path}`, 'not_found'));
    return 'not_found';
  }
  const outcome = draw();
  if (outcome !== 'answered' && outcome !== 'malformed') return fail(exchange, outcome);
  return answer(exchange, dialect, { request, n, outcome });
}

function fail({ response, request, options }: Exchange, outcome: LoopbackOutcome): LoopbackOutcome {
  if (outcome === 'rate_limit') {
    response.setHeader('retry-after', String(options.faults?.retryAfterS ?? 1));
    send(response, 429, errorBody('Rate limit reached', 'rate_limit_exceeded'));
  } else if (outcome === 'server_error') {
    send(response, 500, errorBody('The server had an error', 'server_error'));
  } else if (outcome === 'drop') {
    request.socket.destroy();
  }
  return outcome;
}

async function answer(
  { response, options, stats }: Exchange,
  dialect: Dialect,
  { request, n, outcome }: { request: LoopbackRequest; n: number; outcome: LoopbackOutcome },
): Promise<LoopbackOutcome> {
  stats.answered++;
  if (dialect.kind === 'embeddings') {
    send(response, 200, dialect.render(request.body));
    return 'answered';
  }
  const body = dialect.read(request);
  const given = await (options.answer ?? defaultAnswer)(body, n);
  const reply = typeof given === 'string' ? { text: given } : given;
  const broken = outcome === 'malformed' && asksForJson(body);
  const parts: ReplyParts = {
    text: broken ? `Sure! {"verdict": ${(reply.text ?? '').slice(0, 3)}` : (reply.text ?? ''),
    finishReason: reply.finishReason ?? (reply.toolCalls ? 'tool_calls' : 'stop'),
    toolCalls: (reply.toolCalls ?? []).map((call, i) => ({ ...call, id: call.id ?? `call_${n}_${i}` })),
    ...(options.usage === false ? {} : { usage: countTokens(body, reply.text ?? '') }),
  };
  send(response, 200, dialect.render(body, parts, n));
  return broken ? 'malformed' : 'answered';
}

function drawFault(faults: LoopbackFaults): () => LoopbackOutcome {
  const random: Random = seededRandom('loopback', faults.seed ?? 0);
  const shares: [LoopbackOutcome, number][] = [
    ['rate_limit', faults.rateLimit ?? 0],
    ['server_error', faults.serverError ?? 0],
    ['drop', faults.drop ?? 0],
    ['hang', faults.hang ?? 0],
    ['malformed', faults.malformed ?? 0],
  ];
  return () => {
    let left = random();
    for (const [outcome, share] of shares) {
      if (left < share) return outcome;
      left -= share;
    }
    return 'answered';
  };
}

function keyOf(headers: IncomingMessage['headers']): string {
  const named = headers['x-api-key'] ?? headers['x-goog-api-key'];
  return String(named ?? headers.authorization?.replace(/^Bearer /, '') ?? '');
}

function errorBody(message: string, code: string): Json {
  return { error: { message, type: code, code } };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

function readAll(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
  });
}

/** `node --import tsx test/support/loopback-chat.ts --port 0 --latency 200` prints its port. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      latency: { type: 'string', default: '0' },
      faults: { type: 'string', default: '{}' },
      'max-in-flight': { type: 'string' },
    },
  });
  const server = await startLoopback({
    port: Number(values.port),
    latencyMs: Number(values.latency),
    faults: JSON.parse(values.faults) as LoopbackFaults,
    ...(values['max-in-flight'] === undefined ? {} : { maxInFlight: Number(values['max-in-flight']) }),
  });
  process.once('disconnect', () => process.exit(0));
  process.stdout.write(`${server.port}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
