import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../src/schema/json.ts';

export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the body of a client under test, as it comes.
  body: any;
}

export interface ServiceAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What the doubles of hosted memory systems do wrong when they are told to. */
export interface ServiceFaults {
  /** Answers a request in place of the system; `n` counts requests from 0. */
  refuse?: (request: ServiceRequest, n: number) => ServiceAnswer | undefined;
  /** How often a write is looked at before it is said to be done. Default 0. */
  looksUntilDone?: number;
  /** Writes of this text are accepted, said to be done, and dropped. */
  drops?: string;
  /** Writes of this text cannot be processed. */
  fails?: string;
  /** A deletion is said to be done, and is not. */
  keepsAll?: boolean;
  /** Every search also gives what another user has. */
  leaks?: boolean;
}

export interface LoopbackService {
  url: string;
  /** Every request so far, in order. */
  requests: ServiceRequest[];
  faults: ServiceFaults;
  close(): Promise<void>;
}

export interface LoopbackServiceOptions {
  apiKey: string;
  /** The key as the client sends it, out of its headers. */
  keyOf(headers: IncomingMessage['headers']): string;
  answer(request: ServiceRequest): ServiceAnswer;
  faults: ServiceFaults;
}

/** A server on 127.0.0.1 behind a double: it reads JSON, refuses a wrong key and plays the faults that all have. */
export async function startService(options: LoopbackServiceOptions): Promise<LoopbackService> {
  const requests: ServiceRequest[] = [];
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch((error) => send(response, { status: 500, body: { message: String(error) } }));
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://loopback');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const request = {
      method: incoming.method ?? 'GET',
      path: decodeURIComponent(pathname),
      query: searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : (JSON.parse(text) as Json),
    };
    const n = requests.push(request) - 1;
    const key = options.keyOf(incoming.headers);
    const refusal = options.faults.refuse?.(request, n);
    if (refusal) return send(response, refusal);
    // Repeats the key, as careless servers do.
    if (key !== options.apiKey) return send(response, { status: 401, body: { message: `invalid api key: ${key}` } });
    send(response, options.answer(request));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    faults: options.faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: ServiceAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

/** How many words of a query a text has: enough to rank by, and always the same. */
export function overlap(query: string, text: string): number {
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  const asked = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  return asked.length === 0 ? 0 : asked.filter((word) => words.has(word)).length / asked.length;
}

/** The best k by the words that they share with a query; equal ones stay in order. */
export function ranked<T>(
  items: readonly T[],
  { query, k }: { query: string; k: number },
  textOf: (item: T) => string,
) {
  const scored = items.map((item) => ({ item, score: overlap(query, textOf(item)) }));
  return scored.sort((a, b) => b.score - a.score).slice(0, k);
}
