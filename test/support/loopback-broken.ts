import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const MIB = 2 ** 20;
const completion = (content: string, id = 'chatcmpl-1') => ({
  id,
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const json = { 'content-type': 'application/json' };
const good = JSON.stringify(completion('good'));

/** Ways to answer a chat request that no server should; each writes to the response by itself. */
export const brokenAnswers = {
  '429 with Retry-After': (to) =>
    to.writeHead(429, { ...json, 'retry-after': '0' }).end('{"error":{"message":"slow"}}'),
  '500': (to) => to.writeHead(500, json).end('{"error":{"message":"oops"}}'),
  '503 HTML page': (to) =>
    to.writeHead(503, { 'content-type': 'text/html' }).end(`<h1>Sorry</h1>${'<script>'.repeat(50_000)}`),
  'cut body': (to) => {
    to.writeHead(200, { ...json, 'content-length': good.length }).write(good.slice(0, 40));
    setTimeout(() => to.destroy(), 20);
  },
  'slow drip': (to) => {
    to.writeHead(200, json);
    const timer = setInterval(() => to.write(' '), 50);
    to.once('close', () => clearInterval(timer));
  },
  hang: () => undefined,
  'HTML with status 200': (to) => to.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome</p>'),
  'damaged gzip': (to) => {
    const packed = gzipSync(good);
    packed.fill(0xff, 12, 30);
    to.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(packed);
  },
  '50 MB answer': (to) => {
    to.writeHead(200, json);
    const chunk = Buffer.alloc(MIB, ' ');
    let left = 50;
    const more = () => {
      while (left-- > 0) if (!to.write(chunk)) return void to.once('drain', more);
      to.end(good);
    };
    more();
  },
  '50 MB packed into 50 kB': (to) =>
    to.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50 * MIB, ' '))),
  '50 MB error page': (to) => to.writeHead(500, { 'content-type': 'text/html' }).end(Buffer.alloc(50 * MIB, '<')),
  'lone surrogates': (to) => to.writeHead(200, json).end(good.replace('good', 'good \\ud800')),
  'id of another request': (to) => to.writeHead(200, json).end(JSON.stringify(completion('good', 'chatcmpl-other'))),
  'late answer, after the deadline': (to) => {
    setTimeout(() => to.destroyed || to.writeHead(200, json).end(JSON.stringify(completion('late'))), 900);
  },
} as const satisfies Record<string, (to: ServerResponse) => unknown>;

export type BrokenAnswer = keyof typeof brokenAnswers;

export interface BrokenServer {
  baseUrl: string;
  requests(): number;
  close(): Promise<void>;
}

/** Answers its first `times` requests in one broken way, and all later ones as it should. */
export async function startBroken(kind: BrokenAnswer, times: number): Promise<BrokenServer> {
  let requests = 0;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    request.resume().once('end', () => {
      requests += 1;
      if (requests <= times) (brokenAnswers[kind] as (to: ServerResponse) => unknown)(response);
      else response.writeHead(200, json).end(good);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
