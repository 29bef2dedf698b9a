import { createServer } from 'node:http';
import { listening, type Running } from './memory-protocol.ts';

export interface MemoryFaults {
  about?: object;
  /** Answers a request in the memory's place; `n` counts the requests of this kind (`POST search`) from 0. */
  answer?: (kind: string, n: number) => { status: number; headers?: Record<string, string>; body?: string } | undefined;
  /** Requests of this kind get no answer. */
  silent?: string;
  /** How often `ready` says no after a write. */
  looksUntilReady?: number;
  /** Facts with this text are accepted and dropped. */
  drops?: string;
  /** A search also gives what others stored. */
  leaks?: boolean;
  /** A deletion is said to be done, and is not. */
  keeps?: boolean;
}

export interface LoopbackMemory extends Running {
  /** Kinds of requests so far, `POST search`, with their headers. */
  requests: { kind: string; headers: Record<string, unknown>; body: string }[];
  scopes: Map<string, { id: string; text: string }[]>;
}

/** A memory that speaks the memory protocol and does wrong what it is told to; what it finds are the first k. */
export async function startLoopbackMemory(faults: MemoryFaults = {}): Promise<LoopbackMemory> {
  const scopes: LoopbackMemory['scopes'] = new Map();
  const requests: LoopbackMemory['requests'] = [];
  let looks = 0;
  const about = {
    name: 'loopback',
    protocol: 1,
    capabilities: { rewrites: false, provenance: true, honours_k: true },
    ...faults.about,
  };

  function answered(kind: string, scope: string, body: string): { status: number; body?: object } {
    const kept = scopes.get(scope) ?? [];
    const items = (facts: typeof kept) => facts.map(({ id, text }) => ({ text, fact_ids: [id] }));
    const parsed = body === '' ? {} : JSON.parse(body);
    if (kind === 'GET ') return { status: 200, body: about };
    if (kind === 'POST facts') {
      const stored = parsed.facts.filter(
        ({ text }: { text: string }) => !(faults.drops && text.includes(faults.drops)),
      );
      scopes.set(scope, [...kept, ...stored]);
      looks = faults.looksUntilReady ?? 0;
      return { status: 202 };
    }
    if (kind === 'GET ready') {
      looks -= 1;
      return looks < 0 ? { status: 200, body: { ready: true } } : { status: 202, body: { ready: false } };
    }
    if (kind === 'POST search') {
      const others = faults.leaks ? [...scopes].filter(([name]) => name !== scope).flatMap(([, facts]) => facts) : [];
      return { status: 200, body: { items: items([...others, ...kept]).slice(0, parsed.k) } };
    }
    if (kind === 'GET items') return { status: 200, body: { items: items(kept) } };
    if (!faults.keeps) scopes.delete(scope);
    return { status: 204 };
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const [, scope = '', what = ''] = (request.url ?? '').slice(1).split('/').map(decodeURIComponent);
    const kind = `${request.method} ${what}`;
    const n = requests.filter((one) => one.kind === kind).length;
    requests.push({ kind, headers: request.headers, body });
    if (faults.silent === kind) return;
    const instead = faults.answer?.(kind, n);
    if (instead) return response.writeHead(instead.status, instead.headers).end(instead.body);
    const answer = answered(kind, scope, body);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.body && JSON.stringify(answer.body));
  });
  return { requests, scopes, ...(await listening(server)) };
}
