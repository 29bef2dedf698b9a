import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeJob, fakeParts, fakeReply, fakeSample } from '../../test/support/fake-parts.ts';
import { type LoopbackMemory, type MemoryFaults, startLoopbackMemory } from '../../test/support/loopback-memory.ts';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';
import {
  operationOf,
  protocol,
  pythonIsHere,
  recordingProxy,
  startExample,
  violations,
} from '../../test/support/memory-protocol.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { Clock } from '../contracts/call.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import { systemClock } from '../lib/clock.ts';
import { runSample } from '../run/run-sample.ts';
import type { FailedRecord } from '../schema/record.ts';
import { http } from './http.ts';

const never = new AbortController().signal;
const capabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: true,
  needs_key: false,
};
const KEY = 'key-1234567890';

interface Made {
  file?: object;
  env?: Record<string, string>;
  clock?: Clock;
}

const make = (url: string, { file, env = {}, clock = systemClock }: Made = {}): Promise<MemoryBackend> =>
  http.create(http.schema.parse({ backend: 'http', url, poll_interval_s: 0.01, ...file }), {
    ...fakePluginContext(),
    clock,
    env,
  });

/** The path of one sample whose agent searches its memory once. */
function recordOf(memory: MemoryBackend, limits: { readyTimeoutS?: number; memoryTimeoutS?: number } = {}) {
  const agent = fakeAgent({
    respond: async (_task, { scope, topK }) =>
      fakeReply({ recalls: [await scope.search('an ocean view suite', topK)] }),
  });
  const sample = fakeSample('s', { facts: [...pool.slice(0, 4)] });
  return runSample(fakeJob({ sample }), fakeParts({ memory, agent, clock: systemClock, ...limits }), never);
}

async function withServer<T>(faults: MemoryFaults, work: (server: LoopbackMemory) => Promise<T>): Promise<T> {
  const server = await startLoopbackMemory(faults);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

const examples = [
  { file: 'memory_server.py', there: pythonIsHere },
  { file: 'memory-server.mjs', there: true },
] as const;

for (const { file, there } of examples) {
  describe.skipIf(!there)(`examples/${file}${there ? '' : ' (python3 is not here)'}`, () => {
    let proxy: Awaited<ReturnType<typeof recordingProxy>>;
    let example: Awaited<ReturnType<typeof startExample>>;
    beforeAll(async () => {
      example = await startExample(file);
      proxy = await recordingProxy(example.url);
    });
    afterAll(async () => {
      await proxy.close();
      await example.close();
    });

    memoryContract(`http, ${file}`, () => make(proxy.url), { capabilities });

    it('and HEAMS say to each other what the OpenAPI document says', () => {
      expect(proxy.exchanges.flatMap(violations)).toEqual([]);
      const operations = Object.entries(protocol.paths).flatMap(([path, methods]) =>
        ['get', 'post', 'delete']
          .filter((method) => methods[method])
          .map((method) => `${method.toUpperCase()} ${path}`),
      );
      expect(new Set(proxy.exchanges.map((exchange) => operationOf(exchange)?.[0]))).toEqual(new Set(operations));
    });

    it('keeps many scopes apart at once, and a fact that is sent twice once', async () => {
      const memory = await make(example.url);
      await Promise.all(
        Array.from({ length: 16 }, async (_, i) => {
          const scope = await memory.open(`many-${i}`, fakeCall());
          const fact = { id: 'f0', key: 'Secret', text: `Secret: canary ${i}` };
          await scope.write([fact]);
          await scope.write([fact]);
          expect((await scope.search('canary', 9)).items.map(({ text }) => text)).toEqual([fact.text]);
          await scope.dispose();
        }),
      );
      await memory.close();
    });
  });
}

describe('the check by the document', () => {
  const exchange = { method: 'GET', path: '/', headers: {}, sent: '', status: 200, received: '' };

  it('finds what is not as it says', () => {
    const about = { name: 'x', protocol: 1, capabilities: { rewrites: 'no', provenance: true, honours_k: true } };
    expect(violations({ ...exchange, received: JSON.stringify(about) })[0]).toContain('rewrites must be boolean');
    expect(violations({ ...exchange, path: '/elsewhere' })[0]).toContain('not in the document');
    const search = { ...exchange, method: 'POST', path: '/scopes/s/search', received: '{"items":[]}' };
    expect(violations({ ...search, sent: '{"query":"x"}' })[0]).toContain("required property 'k'");
    expect(violations({ ...search, sent: '{"query":"x","k":1}', status: 201 })[0]).toContain('status 201');
    expect(violations({ ...search, sent: '{"query":"x","k":1}' })).toEqual([]);
  });
});

describe('what a memory does wrong, in the path of one sample', () => {
  it.each<[string, MemoryFaults, { readyTimeoutS?: number; memoryTimeoutS?: number }, Partial<FailedRecord['error']>]>([
    [
      'never becomes ready',
      { looksUntilReady: 1e9 },
      { readyTimeoutS: 0.2 },
      { stage: 'prime', code: 'memory_not_ready' },
    ],
    ['drops a write', { drops: 'P1234567' }, {}, { stage: 'prime', code: 'memory_lost_facts' }],
    [
      'answers after the deadline',
      { silent: 'POST search' },
      { memoryTimeoutS: 0.2 },
      { stage: 'agent', code: 'memory_timeout' },
    ],
    [
      'writes after the deadline',
      { silent: 'POST facts' },
      { memoryTimeoutS: 0.2 },
      { stage: 'prime', code: 'memory_timeout' },
    ],
    ['does not forget', { keeps: true }, {}, { stage: 'dispose', code: 'memory_not_cleared' }],
  ])('fails the sample of one that %s', async (_what, faults, limits, expected) => {
    await withServer(faults, async (server) => {
      const record = await recordOf(await make(server.url), limits);
      expect(record).toMatchObject({ status: 'failed', error: expected });
      expect(record).not.toHaveProperty('grade');
    });
  });

  it("fails the sample of one that gives another scope's fact", async () => {
    await withServer({ leaks: true }, async (server) => {
      server.scopes.set('other', [{ id: 'f0', text: 'the ocean view suite of somebody else' }]);
      const record = await recordOf(await make(server.url));
      expect(record).toMatchObject({ status: 'failed', error: { stage: 'agent', code: 'memory_foreign_item' } });
    });
  });

  it('fails the sample of one that gives more than was asked for', async () => {
    const items = Array.from({ length: 6 }, () => ({ text: pool[0]?.text, fact_ids: ['f0'] }));
    const answer = (kind: string) =>
      kind === 'POST search' ? { status: 200, body: JSON.stringify({ items }) } : undefined;
    await withServer({ answer }, async (server) => {
      expect(await recordOf(await make(server.url))).toMatchObject({
        error: { stage: 'agent', code: 'memory_too_many' },
      });
    });
  });

  it('waits for one that becomes ready late, and clears what an earlier run left', async () => {
    await withServer({ looksUntilReady: 3 }, async (server) => {
      server.scopes.set(fakeJob().key, [{ id: 'old', text: 'left by a run that was killed' }]);
      const record = await recordOf(await make(server.url));
      expect(record.status).toBe('done');
      expect(record.stored?.map(({ fact_ids: ids }) => ids[0])).toEqual(['f0', 'f1', 'f2', 'f3']);
      expect(server.requests.filter(({ kind }) => kind === 'GET ready').length).toBe(4);
      expect(server.scopes.size).toBe(0);
    });
  });
});

describe('answers that are no answers', () => {
  const searchOf = (answer: MemoryFaults['answer'], made: Made = {}) =>
    withServer(answer ? { answer } : {}, async (server) => {
      const memory = await make(server.url, made);
      const scope = await memory.open('s', fakeCall());
      await scope.write(pool.slice(0, 1));
      return heamsErrorOf(scope.search('hotel', 1));
    });
  const found = (status: number, body: string) => (kind: string) =>
    kind === 'POST search' ? { status, body } : undefined;

  it.each([
    [
      200,
      'memory_bad_response',
      'HTTP 200: the body is not JSON; it begins: <html>it works</html>',
      '<html>it works</html>',
    ],
    [200, 'memory_bad_response', 'HTTP 200: the body: Invalid input', ''],
    [200, 'memory_bad_response', 'HTTP 200: items: Invalid input: expected array, received object', '{"items": {}}'],
    [200, 'memory_bad_response', 'HTTP 200: items.0.text: Invalid input', '{"items":[{"text":1,"fact_ids":[]}]}'],
    [200, 'memory_bad_response', 'the body has more than 8388608 bytes', `{"items":"${'x'.repeat(9e6)}"}`],
    [201, 'memory_refused', 'HTTP 201', '{"items": []}'],
    [302, 'memory_refused', 'HTTP 302; it begins: (nothing)', ''],
    [400, 'memory_refused', 'HTTP 400; it begins: bad ␛[31mquery', 'bad \u001b[31mquery'],
    [401, 'memory_auth', 'HTTP 401; it begins: no', 'no'],
    [404, 'memory_not_found', 'HTTP 404', ''],
    [500, 'memory_unavailable', 'HTTP 500; it begins: oops', 'oops'],
  ])('are told with method, path, status and how they begin: %i, %s: %s', async (status, code, told, body) => {
    const error = await searchOf(found(status, body));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^memory: POST \/scopes\/s\/search: /);
    expect(error.message).toContain(told);
    expect(error.message.length).toBeLessThan(400);
  });

  it('never show the key, whatever the server repeats', async () => {
    const made = { file: { headers: { authorization: `Bearer \${MY_KEY}` } }, env: { MY_KEY: KEY } };
    const error = await searchOf(found(401, `the key ${KEY} is wrong`), made);
    expect(error.message).toContain('the key [key] is wrong');
    expect(error.describe()).not.toContain(KEY);
  });

  it('are told where ready and its status differ', async () => {
    const answer = (kind: string) => (kind === 'GET ready' ? { status: 200, body: '{"ready":false}' } : undefined);
    await withServer({ answer }, async (server) => {
      const scope = await (await make(server.url)).open('s', fakeCall());
      await scope.write(pool.slice(0, 1));
      expect((await heamsErrorOf(scope.ready(never))).message).toContain('GET /scopes/s/ready: HTTP 200: ready: false');
    });
  });

  it('have a deadline of their own', async () => {
    await withServer({ silent: 'GET items' }, async (server) => {
      const memory = await make(server.url, { file: { timeout_s: 0.1 } });
      const error = await heamsErrorOf(memory.open('s', fakeCall()));
      expect(error.message).toBe('memory: GET /scopes/s/items: no answer within 0.1 s');
    });
  });
});

describe('a memory that is busy', () => {
  /** Time passes at once, but for the deadlines of requests. */
  function hasty(slept: number[]): Clock {
    return {
      ...systemClock,
      async sleep(ms, signal) {
        if (ms === 60_000) return systemClock.sleep(ms, signal);
        slept.push(ms);
      },
    };
  }
  const busy =
    (times: number, status = 503, headers?: Record<string, string>) =>
    (kind: string, n: number) =>
      kind === 'POST facts' && n < times ? { status, body: 'busy', ...(headers ? { headers } : {}) } : undefined;

  it('is asked again, not before Retry-After is over, and the retries are counted', async () => {
    const slept: number[] = [];
    await withServer({ answer: busy(2, 429, { 'retry-after': '7' }) }, async (server) => {
      const call = fakeCall({ stage: 'prime' });
      const scope = await (await make(server.url, { clock: hasty(slept) })).open('s', call);
      await scope.write(pool.slice(0, 1));
      expect(slept).toEqual([7000, 7000]);
      expect(call.spent.prime.retries).toBe(2);
      const sent = server.requests.filter(({ kind }) => kind === 'POST facts').map(({ body }) => body);
      expect(new Set(sent).size).toBe(1);
      expect((await scope.list()).length).toBe(1);
    });
  });

  it('is given up after so many attempts, or where it asks for too much patience', async () => {
    const slept: number[] = [];
    const first = await withServer({ answer: busy(99) }, async (server) => {
      const memory = await make(server.url, { clock: hasty(slept), file: { retries: 3 } });
      return heamsErrorOf((await memory.open('s', fakeCall())).write(pool.slice(0, 1)));
    });
    expect(first).toMatchObject({ code: 'memory_unavailable' });
    expect(first.message).toContain('POST /scopes/s/facts: HTTP 503 after 4 attempts');
    expect(slept).toEqual([500, 1000, 2000]);
    const second = await withServer({ answer: busy(99, 429, { 'retry-after': '3600' }) }, async (server) => {
      const memory = await make(server.url, { clock: hasty(slept) });
      return heamsErrorOf((await memory.open('s', fakeCall())).write(pool.slice(0, 1)));
    });
    expect(second).toMatchObject({ code: 'memory_rate_limited' });
    expect(slept.length).toBe(3);
  });
});

describe('what a memory says of itself', () => {
  const aboutWith = (capabilitiesTold: object, more: object = {}) => ({
    about: { capabilities: { rewrites: false, provenance: true, honours_k: true, ...capabilitiesTold }, ...more },
  });

  it('must be what its file says', async () => {
    await withServer(aboutWith({ rewrites: true }), async (server) => {
      const error = await heamsErrorOf(make(server.url));
      expect(error).toMatchObject({
        code: 'memory_capabilities_differ',
        expected: 'rewrites: false, as in the memory file',
        found: 'rewrites: true',
      });
      const memory = await make(server.url, { file: { rewrites: true } });
      expect(memory.capabilities).toEqual({ ...capabilities, rewrites: true });
    });
  });

  it('bounds how many scopes are open at once; the smaller of two numbers holds', async () => {
    await withServer(aboutWith({ max_concurrency: 4 }), async (server) => {
      expect((await make(server.url)).capabilities.max_concurrency).toBe(4);
      expect((await make(server.url, { file: { max_concurrency: 2 } })).capabilities.max_concurrency).toBe(2);
      expect((await make(server.url, { file: { max_concurrency: 9 } })).capabilities.max_concurrency).toBe(4);
    });
  });

  it('is refused where it is of another version, or missing, or nobody is there', async () => {
    await withServer(aboutWith({}, { protocol: 2 }), async (server) => {
      expect(await heamsErrorOf(make(server.url))).toMatchObject({ code: 'memory_protocol' });
    });
    await withServer({ about: { capabilities: {} } }, async (server) => {
      expect((await heamsErrorOf(make(server.url))).message).toContain('capabilities.rewrites: Invalid input');
    });
    const url = await withServer({}, async (server) => server.url);
    const gone = await heamsErrorOf(make(url));
    expect(gone).toMatchObject({ code: 'memory_unreachable', message: 'memory: GET /: no answer (ECONNREFUSED)' });
  });

  it('does not need a key, unless its file refers to one', async () => {
    await withServer({}, async (server) => {
      const file = { headers: { authorization: `Bearer \${MY_KEY}` } };
      const memory = await make(`${server.url}/`, { file, env: { MY_KEY: KEY } });
      expect(memory.capabilities.needs_key).toBe(true);
      expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
      expect(await heamsErrorOf(make(server.url, { file }))).toMatchObject({ code: 'missing_variable' });
    });
  });
});

describe('the file', () => {
  const parsed = (file: object) => http.schema.safeParse({ backend: 'http', url: 'http://127.0.0.1:1', ...file });

  it('takes no secret in its address, and no unknown key', () => {
    expect(parsed({}).success).toBe(true);
    for (const url of ['http://user:pw@127.0.0.1:1', 'http://127.0.0.1:1/?key=1', 'ftp://127.0.0.1', 'x']) {
      expect(parsed({ url }).success).toBe(false);
    }
    expect(parsed({ timeout: 3 }).success).toBe(false);
  });

  it('is the same arm wherever the memory is, and another where it is of another version', () => {
    const identity = (file: object) =>
      http.identity?.(http.schema.parse({ backend: 'http', url: 'http://a', ...file }));
    expect(identity({ url: 'http://b', headers: { a: 'b' }, timeout_s: 3 })).toEqual(identity({}));
    expect(identity({ version: '2' })).not.toEqual(identity({}));
    expect(identity({ top_k: 9 })).not.toEqual(identity({}));
  });

  it('says what it needs', () => {
    const options = http.schema.parse({ backend: 'http', url: 'http://a', headers: { 'x-key': `\${MY_KEY}` } });
    expect(http.requires?.(options)).toEqual([
      { kind: 'server', url: 'http://a', path: ['url'] },
      { kind: 'variable', name: 'MY_KEY', path: ['headers', 'x-key'], role: 'the header "x-key" of a memory' },
    ]);
  });
});
