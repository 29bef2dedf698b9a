import { afterAll, describe, expect, it } from 'vitest';
import { agentContract, facts, fakeMemory, task } from '../../test/support/agent-contract.ts';
import { fakeCall, manualClock } from '../../test/support/fake-call.ts';
import { type AgentExchange, type LoopbackAgent, loopbackAgent } from '../../test/support/loopback-agent.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { Agent } from '../contracts/agent.ts';
import type { PluginContext } from '../contracts/plugin.ts';
import { systemClock } from '../lib/clock.ts';
import { http } from './http.ts';

const context: PluginContext = { ...fakePluginContext(), clock: systemClock };
const closing: { close?(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(closing.map((one) => one.close?.()));
});

async function serving(answer: (exchange: AgentExchange) => object | undefined): Promise<LoopbackAgent> {
  const server = await loopbackAgent(answer);
  closing.push(server);
  return server;
}

async function agentAt(url: string, file: object = {}, given: Partial<PluginContext> = {}): Promise<Agent> {
  const options = http.schema.parse({ kind: 'http', url, memory_strategy: 'none', retries: 0, ...file });
  const agent = await http.create(options, { ...context, ...given });
  closing.unshift(agent);
  return agent;
}

/** Says what it knows, and does what it is told to do with its own memory. */
function honest(told = new Map<string, string[]>()) {
  return ({ request }: AgentExchange): object => {
    const { scope } = request;
    if (request.type === 'forget') {
      told.delete(scope);
      return { forgotten: true };
    }
    if (request.type === 'tell') {
      told.set(scope, [...(told.get(scope) ?? []), ...request.turns.map(({ content }) => content)]);
      return { told: true };
    }
    const { memories = [], tools, steps = [] } = request;
    const [tool] = tools ?? [];
    if (tool && steps.length === 0) {
      return { tool_calls: [{ id: '1', name: tool.name, input: { query: 'food' } }] };
    }
    return { message: [...memories, ...(told.get(scope) ?? [])].join('\n') || 'Hello' };
  };
}
const honestServer = await serving(honest());

for (const [strategy, searches] of [
  ['none', 0],
  ['inject', 1],
  ['tool', 1],
] as const) {
  const make = () => agentAt(honestServer.url, { memory_strategy: strategy });
  agentContract(`http, ${strategy}`, make, { seesLabels: false, searches });
}

const ownMemory = async (url = honestServer.url, file = {}) => {
  const agent = await agentAt(url, file);
  if (!agent.ownMemory) throw new Error('memory_strategy: none has its own memory');
  const telling = (given: readonly { text: string }[]) => given.map(({ text }) => text).join('\n');
  return { agent, backend: agent.ownMemory({ telling, each: 'fact' }) };
};
memoryContract('own memory over http', async () => (await ownMemory()).backend, {
  capabilities: {
    stores: false,
    rewrites: true,
    provenance: false,
    honours_k: false,
    needs_network: true,
    needs_key: false,
    external: true,
  },
});

const respond = (agent: Agent, call = fakeCall()) => agent.respond(task, fakeMemory(), call);

/** The agent's answer to one request that a server answers in some way of its own. */
async function meeting(write: (exchange: AgentExchange) => object | undefined, file: object = {}) {
  return respond(await agentAt((await serving(write)).url, file));
}

describe('a reply over http', () => {
  it('may be all that the protocol has', async () => {
    const call = fakeCall();
    const reply = {
      message: 'Dear restaurant',
      prompt: [{ role: 'system', content: 'You help.' }],
      reasoning: 'They need a name.',
      model_version: 'm-1',
      finish_reason: 'stop',
      usage: { calls: 2, input_tokens: 30, output_tokens: 4, cost_usd: 0.001 },
      warnings: ['slow', 'slow'],
    };
    const server = await serving(({ request }) => ({ protocol: 1, id: request.id, ...reply }));
    const { usage: _, ...rest } = reply;
    expect(await respond(await agentAt(server.url), call)).toEqual({
      ...rest,
      recalls: [],
      tool_calls: [],
      warnings: ['slow'],
    });
    expect(call.spent.agent).toMatchObject({ calls: 2, input_tokens: 30, output_tokens: 4, cost_usd: 0.001 });
    expect(call.spent.agent.unpriced_calls).toBe(0);
  });

  it('that says nothing of its cost counts as one call that has no price', async () => {
    const call = fakeCall();
    await respond(await agentAt(honestServer.url), call);
    expect(call.spent.agent).toMatchObject({ calls: 1, unpriced_calls: 1, cost_usd: 0, retries: 0 });
  });

  it.each([
    [
      'is an error of the agent',
      { error: { code: 'no_model', message: 'out of\nmemory' } },
      'agent_error',
      'no_model: out of memory',
    ],
    ['has no message', { mesage: 'x' }, 'agent_bad_reply', 'has no "message"; it begins: {"mesage":"x"}'],
    ['has more than it may', { message: 'x', score: 1 }, 'agent_bad_reply', 'score'],
    ['has a message that is none', { message: null }, 'agent_bad_reply', 'wrong at message'],
    [
      'asks for tools that there are not',
      { tool_calls: [{ id: '1', name: 't', input: {} }] },
      'agent_bad_reply',
      'has no "message"',
    ],
    ['is of another version', { protocol: 2, message: 'x' }, 'agent_bad_reply', 'wrong at protocol'],
    ['has another id', { id: 'x', message: 'x' }, 'agent_bad_reply', 'the id of another request'],
    ['spent less than nothing', { message: 'x', usage: { calls: -1 } }, 'agent_bad_reply', 'usage.calls'],
    ['says what HEAMS knows better', { message: 'x', recalled: ['a'] }, 'agent_bad_reply', 'recalled'],
    ['was cut off', { message: 'Dear', finish_reason: 'cut_off' }, 'agent_cut_off', 'after 4 characters'],
  ])('%s: a failure with its own code', async (_what, reply, code, story) => {
    const failed = meeting(() => reply);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.toThrow(story);
  });

  const raw =
    (status: number, body: string | Buffer, headers = {}) =>
    ({ response }: AgentExchange) => {
      response.writeHead(status, headers).end(body);
      return undefined;
    };
  const page = '<html><style>p { }</style><body><h1>Sign in</h1><script>alert(1)</script></body></html>';
  it.each([
    ['HTML', raw(200, page), 'agent_bad_reply', 'the reply is not JSON; it begins: <html>'],
    ['nothing', raw(200, ''), 'agent_bad_reply', 'it begins: (nothing)'],
    ['a list', raw(200, '[]'), 'agent_bad_reply', 'not an object; it begins: []'],
    ['bytes that are no UTF-8', raw(200, Buffer.from([0x22, 0xff, 0x22])), 'agent_bad_reply', 'not UTF-8'],
    ['a terminal command', raw(200, '\u001b]0;gotcha\u0007'), 'agent_bad_reply', '␛]0;gotcha␇'],
    ['more than it may', raw(200, `"${'x'.repeat(9 * 1024 * 1024)}"`), 'agent_reply_too_large', '8388608'],
    ['401', raw(401, '{"error":{"code":"bad_key","message":"who?"}}'), 'agent_auth', 'HTTP 401: bad_key: who?'],
    ['403 in HTML', raw(403, page), 'agent_auth', 'HTTP 403: Sign in'],
    ['404', raw(404, 'not here'), 'agent_not_found', 'HTTP 404: not here'],
    ['500', raw(500, ''), 'agent_http_error', 'HTTP 500'],
    ['a redirect', raw(302, '', { location: honestServer.url }), 'agent_redirect', 'HTTP 302'],
  ])('that is %s fails the sample', async (_what, write, code, story) => {
    const failed = meeting(write);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.toThrow(story);
  });

  it('is waited for until the deadline, and its connection is closed then', async () => {
    const server = await serving(() => undefined);
    const agent = await agentAt(server.url, { timeout_s: 0.2 });
    await expect(respond(agent)).rejects.toMatchObject({ code: 'agent_timeout' });
    while (server.abandoned === 0) await systemClock.sleep(10);
  });

  it('is given up with the call', async () => {
    const server = await serving(() => undefined);
    const control = new AbortController();
    const given = expect(respond(await agentAt(server.url), fakeCall({ signal: control.signal }))).rejects;
    while (server.requests.length === 0) await systemClock.sleep(10);
    control.abort(new Error('given up'));
    await given.toThrow('given up');
    while (server.abandoned === 0) await systemClock.sleep(10);
  });
});

describe('a request over http', () => {
  it('has the headers of the file, with references filled in, and errors hold no key', async () => {
    const seen: unknown[] = [];
    const server = await serving(({ headers, response }) => {
      seen.push(headers.authorization, headers['x-team'], headers['content-type']);
      response.writeHead(401).end(`the key ${headers.authorization} is wrong`);
      return undefined;
    });
    const reference = ['$', '{MY_KEY}'].join('');
    const file = { headers: { Authorization: `Bearer ${reference}`, 'X-Team': 'red' } };
    const agent = await agentAt(server.url, file, { env: { MY_KEY: 'abc-secret-xyz' } });
    await expect(respond(agent)).rejects.toThrow('HTTP 401: the key [key] is wrong');
    expect(seen).toEqual(['Bearer abc-secret-xyz', 'red', 'application/json; charset=utf-8']);
    await expect(agentAt(server.url, file)).rejects.toMatchObject({ code: 'missing_variable' });
    expect(
      http.requires?.(http.schema.parse({ kind: 'http', url: server.url, memory_strategy: 'none', ...file })),
    ).toEqual([
      { kind: 'server', url: server.url, path: ['url'] },
      {
        kind: 'variable',
        name: 'MY_KEY',
        path: ['headers', 'Authorization'],
        role: 'the header "Authorization" of an agent',
      },
    ]);
  });

  it.each([
    ['429', 429],
    ['502', 502],
    ['503', 503],
    ['504', 504],
    ['a broken connection', 0],
  ])('is sent again with the same id after %s, and no sooner than it is asked to', async (_what, status) => {
    const clock = manualClock();
    const server = await serving(({ response, request, n }) => {
      if (n > 0) return { message: request.id };
      if (status === 0) response.destroy();
      else response.writeHead(status, { 'retry-after': '7' }).end('busy');
      return undefined;
    });
    const call = fakeCall();
    const reply = respond(await agentAt(server.url, { retries: 1 }, { clock }), call);
    while (call.spent.agent.retries === 0) await systemClock.sleep(5);
    // The other sleeper is none: a deadline ends with its attempt.
    while (clock.sleepers !== 1) await systemClock.sleep(5);
    await clock.advance(status === 0 ? 0 : 6999);
    if (status !== 0) expect(server.requests.length).toBe(1);
    await clock.advance(501);
    expect((await reply).message).toBe(server.requests[0]?.id);
    expect(server.requests.map(({ id }) => id)).toEqual([server.requests[0]?.id, server.requests[0]?.id]);
    expect(call.spent.agent).toMatchObject({ calls: 1, retries: 1 });
  });

  it('is given up after its retries, with what was said last', async () => {
    const server = await serving(({ response }) => {
      response.writeHead(503, { 'retry-after-ms': '1' }).end('overloaded');
      return undefined;
    });
    const failed = respond(await agentAt(server.url, { retries: 2 }));
    await expect(failed).rejects.toThrow(/HTTP 503: overloaded \(given up after 3 attempts/);
    await expect(failed).rejects.toMatchObject({ code: 'agent_unavailable' });
    expect(server.requests.length).toBe(3);
  });

  it('to where nobody listens fails in words', async () => {
    const server = await serving(() => ({}));
    await server.close();
    await expect(respond(await agentAt(server.url))).rejects.toThrow(/no answer from its address \(ECONNREFUSED\)/);
  });

  it('shares as many connections as the file allows', async () => {
    let open = 0;
    let most = 0;
    const server = await serving(({ response }) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.end('{"message":"x"}');
      }, 20);
      return undefined;
    });
    const agent = await agentAt(server.url, { max_connections: 3 });
    await Promise.all(Array.from({ length: 12 }, () => respond(agent)));
    expect(most).toBe(3);
  });
});

describe('an own memory over http', () => {
  const sessions = [
    { id: 'f0', key: 'A', text: 'A: 1', session: 's1', at: '2025-01-01T10:00:00Z' },
    { id: 'f1', key: 'B', text: 'B: 2', session: 's1', at: '2025-01-01T10:05:00Z' },
    { id: 'f2', key: 'C', text: 'C: 3', session: 's2' },
  ];
  const primed = async (scopeId: string, given: Awaited<ReturnType<typeof ownMemory>>, call = fakeCall()) => {
    const scope = await given.backend.open(scopeId, call);
    await scope.write(scopeId === 'sessions' ? sessions : facts);
    await scope.ready(call.signal);
    return scope;
  };
  const memoryOf = ({ backend }: Awaited<ReturnType<typeof ownMemory>>, scopeId: string) => ({
    ...fakeMemory(),
    scopeId,
    capabilities: backend.capabilities,
  });

  it('is forgotten, told turn by turn at the cost of priming, asked, and forgotten again', async () => {
    const server = await serving(honest());
    const given = await ownMemory(server.url);
    const prime = fakeCall({ stage: 'prime' });
    const scope = await primed('sessions', given, prime);
    const reply = await given.agent.respond(task, memoryOf(given, 'sessions'), fakeCall());
    await scope.dispose();
    expect(reply).toMatchObject({ message: 'A: 1\nB: 2\nC: 3', recalls: [], external: { recalls_known: false } });
    expect(prime.spent.prime).toMatchObject({ calls: 3, unpriced_calls: 3 });
    expect(server.requests.map(({ protocol: _p, id: _i, ...request }) => request)).toEqual([
      { type: 'forget', scope: 'sessions' },
      tell('s1', '2025-01-01T10:00:00Z', 'A: 1'),
      tell('s1', '2025-01-01T10:05:00Z', 'B: 2'),
      tell('s2', undefined, 'C: 3'),
      { type: 'respond', scope: 'sessions', turns: task.turns, told: 3 },
      { type: 'forget', scope: 'sessions' },
    ]);
  });
  const tell = (session: string, at: string | undefined, content: string) => ({
    type: 'tell',
    scope: 'sessions',
    session,
    ...(at === undefined ? {} : { at }),
    turns: [{ role: 'user', content }],
  });

  it('may say what it recalled', async () => {
    const told = honest();
    const server = await serving((exchange) =>
      exchange.request.type === 'respond' ? { message: 'x', recalled: ['A: 1'] } : told(exchange),
    );
    const given = await ownMemory(server.url);
    await primed('a', given);
    expect(await given.agent.respond(task, memoryOf(given, 'a'), fakeCall())).toMatchObject({
      recalls: [{ query: task.query, items: [{ text: 'A: 1', fact_ids: [] }] }],
      external: { recalls_known: true },
    });
  });

  it('that does not confirm is a failure: what is not told, and what is not forgotten', async () => {
    const server = await serving(({ request }) => (request.type === 'respond' ? { message: 'x' } : {}));
    await expect(primed('a', await ownMemory(server.url))).rejects.toThrow('the reply has no "forgotten"');
    const deaf = await serving(({ request }) => (request.type === 'forget' ? { forgotten: true } : { message: 'ok' }));
    await expect(primed('a', await ownMemory(deaf.url))).rejects.toThrow('the reply has no "told"');
    const keeper = await serving(({ request, n }) =>
      request.type === 'tell' ? { told: true } : n === 0 ? { forgotten: true } : { forgotten: false },
    );
    const scope = await primed('a', await ownMemory(keeper.url));
    await expect(scope.dispose()).rejects.toThrow('the reply is wrong at forgotten');
  });

  it('never mixes what many scopes were told', async () => {
    const given = await ownMemory();
    const ids = Array.from({ length: 40 }, (_, i) => `scope-${i}`);
    const replies = await Promise.all(
      ids.map(async (id) => {
        const scope = await given.backend.open(id, fakeCall());
        await scope.write([{ id, key: 'Name', text: `Name: ${id}` }]);
        const reply = await given.agent.respond(task, memoryOf(given, id), fakeCall());
        await scope.dispose();
        return reply.message;
      }),
    );
    expect(replies).toEqual(ids.map((id) => `Name: ${id}`));
  });

  it('is asked to forget when the run is given up, and not waited for long', async () => {
    const told = honest();
    const silentAtLast = await serving((exchange) => (exchange.n < 4 ? told(exchange) : undefined));
    const control = new AbortController();
    const clock = manualClock();
    const agent = await agentAt(silentAtLast.url, {}, { clock });
    const backend = agent.ownMemory?.({ telling: () => 'x', each: 'fact' });
    const scope = await backend?.open('a', fakeCall({ signal: control.signal }));
    await scope?.write(facts);
    control.abort(new Error('given up'));
    const left = expect(scope?.dispose()).rejects.toThrow('given up');
    while (silentAtLast.requests.length < 5) await systemClock.sleep(5);
    await clock.advance(2000);
    await left;
    expect(silentAtLast.requests.at(-1)?.type).toBe('forget');
  });
});

describe('an http file', () => {
  const issues = (file: object) =>
    http.schema
      .safeParse({ kind: 'http', url: 'http://127.0.0.1:1/', memory_strategy: 'none', ...file })
      .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

  it('has no key in its address, and an address of the web', () => {
    expect(issues({})).toEqual([]);
    expect(issues({ url: 'http://me:pw@127.0.0.1/' })[0]).toContain('no user, password or fragment');
    expect(issues({ url: 'ftp://127.0.0.1/' })[0]).toContain('a URL with http or https');
    expect(issues({ url: 'somewhere' })[0]).toContain('a URL with http or https');
    expect(issues({ max_tool_calls: 3 })).toEqual(['max_tool_calls: max_tool_calls needs memory_strategy: tool']);
    expect(issues({ retrys: 3 })[0]).toContain('retrys');
  });

  it('is another run with another version, and the same at another address', () => {
    const identity = (file: object) =>
      http.identity?.(
        http.schema.parse({ kind: 'http', url: 'http://127.0.0.1:1/', memory_strategy: 'tool', ...file }),
      );
    expect(identity({ url: 'http://127.0.0.1:2/', retries: 1, timeout_s: 5, name: 'x', headers: { a: 'b' } })).toEqual({
      memory_strategy: 'tool',
    });
    expect(identity({ version: '2', max_tool_calls: 3, variables: ['recipient'] })).toEqual({
      memory_strategy: 'tool',
      max_tool_calls: 3,
      variables: ['recipient'],
      version: '2',
    });
  });

  it('names each variable in its place, for the benchmark to know or not', () => {
    const options = http.schema.parse({
      kind: 'http',
      url: 'http://a/',
      memory_strategy: 'none',
      variables: ['recipient'],
    });
    expect(http.templates?.(options, ['recipient', 'domain'])).toEqual([
      { path: ['variables', 0], source: '{{ recipient }}', variables: ['recipient', 'domain'] },
    ]);
  });
});
