import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeJob, fakeParts, fakeReply, fakeSample } from '../../test/support/fake-parts.ts';
import { makeMcp, mappedTools, overStdio } from '../../test/support/mcp-memory.ts';
import { type McpFaults, type McpHttp, makeState, startMcpHttp } from '../../test/support/mcp-memory-server.mjs';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import { systemClock } from '../lib/clock.ts';
import { runSample } from '../run/run-sample.ts';
import type { FailedRecord } from '../schema/record.ts';

const never = new AbortController().signal;
const capabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
  max_concurrency: 8,
};

describe('the real server-memory over stdio', { timeout: 60_000 }, () => {
  memoryContract('server-memory, a process for each scope', () => makeMcp({ preset: 'server-memory' }), {
    capabilities,
  });
  memoryContract(
    'server-memory, processes used again',
    () => makeMcp({ preset: 'server-memory', reuse_processes: true, max_concurrency: 3 }),
    { capabilities: { ...capabilities, max_concurrency: 3 } },
  );
});

describe('a server on the SDK', { timeout: 60_000 }, () => {
  memoryContract('mcp, one program for all scopes', () => makeMcp({ ...overStdio(), isolation: 'argument' }), {
    capabilities,
  });
  memoryContract(
    'mcp, a program that rewrites and keeps ids',
    () =>
      makeMcp({
        ...overStdio({ rewrites: true }),
        isolation: 'argument',
        rewrites: true,
        search: { ...mappedTools.search, fact_id: 'id' },
        list: { ...mappedTools.list, fact_id: '{{ item.id }}' },
        clear: { tool: 'forget_one', arguments: { user: '{{ scope }}', id: '{{ item.id }}' }, per: 'item' },
      }),
    { capabilities: { ...capabilities, rewrites: true } },
  );

  describe('over streamable HTTP', () => {
    let server: McpHttp;
    beforeAll(async () => {
      server = await startMcpHttp();
    });
    afterAll(() => server.close());
    memoryContract('mcp over HTTP', () => makeMcp({ ...mappedTools, url: server.url }), {
      capabilities: { ...capabilities, needs_network: true },
    });
  });
});

/** The record of one sample whose agent searches its memory once. */
function recordOf(memory: MemoryBackend) {
  const agent = fakeAgent({
    respond: async (_task, { scope, topK }) =>
      fakeReply({ recalls: [await scope.search('an ocean view suite', topK)] }),
  });
  const sample = fakeSample('s', { facts: [...pool.slice(0, 4)] });
  return runSample(fakeJob({ sample }), fakeParts({ memory, agent, clock: systemClock }), never);
}

async function failureOf(memory: MemoryBackend): Promise<FailedRecord['error']> {
  try {
    const record = await recordOf(memory);
    expect(record.status).toBe('failed');
    return (record as FailedRecord).error;
  } finally {
    await memory.close();
  }
}

const somebodyElse = () =>
  makeState().set('somebody else', [{ id: 'x', text: 'the ocean view suite of somebody else' }]);

describe('what a server does wrong', { timeout: 30_000 }, () => {
  const faulty = (faults: McpFaults, more: object = {}) =>
    makeMcp({ ...overStdio(faults), timeout_s: 5, start_timeout_s: 10, ...more });

  it.each<[string, McpFaults, object, Partial<FailedRecord['error']>]>([
    [
      'never starts to answer',
      { never_starts: true },
      { start_timeout_s: 0.3 },
      { stage: 'memory', code: 'memory_timeout' },
    ],
    ['ends at once', { ends_at_once: true }, {}, { stage: 'memory', code: 'memory_died' }],
    ['refuses a write', { refuses: true }, {}, { stage: 'prime', code: 'memory_tool_failed' }],
    ['drops a write', { drops: 'P1234567' }, {}, { stage: 'prime', code: 'memory_lost_facts' }],
    ['never answers a search', { silent: true }, { timeout_s: 0.3 }, { stage: 'agent', code: 'memory_timeout' }],
    ['dies in a search', { dies: true }, {}, { stage: 'agent', code: 'memory_died' }],
    ['answers with megabytes', { huge: true }, {}, { stage: 'agent', code: 'memory_died' }],
    ['answers in another shape', { shapeless: true }, {}, { stage: 'agent', code: 'memory_bad_response' }],
    ['answers in prose', { prose: true }, {}, { stage: 'agent', code: 'memory_bad_response' }],
    ['does not forget', { keeps: true }, {}, { stage: 'dispose', code: 'memory_not_cleared' }],
  ])('fails the sample of a server that %s', async (_what, faults, more, expected) => {
    expect(await failureOf(await faulty(faults, more))).toMatchObject(expected);
  });

  it("fails the sample of a server that gives another scope's item", async () => {
    const server = await startMcpHttp({ faults: { leaks: true }, state: somebodyElse() });
    const failure = await failureOf(await makeMcp({ ...mappedTools, url: server.url }));
    expect(failure).toMatchObject({ stage: 'agent', code: 'memory_foreign_item' });
    await server.close();
  });

  it('says how a server died, and what it printed, with nothing that a terminal obeys', async () => {
    const { message } = await failureOf(await faulty({ dies: true }));
    expect(message).toBe(
      'the MCP server is gone: recall: it ended with exit code 3; its stderr ends: out of memory at 0x01␛[31m',
    );
    expect((await failureOf(await faulty({ ends_at_once: true }))).message).toBe(
      'the MCP server is gone: start: it ended with exit code 7; its stderr ends: cannot open the store',
    );
  });

  it('says that a program is not there', async () => {
    const { code, message } = await failureOf(await makeMcp({ ...mappedTools, command: 'no-such-memory-server' }));
    expect(code).toBe('memory_died');
    expect(message).toContain('it could not be started (ENOENT)');
  });

  it('says what of a reply is not there', async () => {
    const shapeless = await failureOf(await faulty({ shapeless: true }));
    expect(shapeless.message).toContain(
      'the MCP tool recall cannot be read: "results" is not there: it is an object with hits',
    );
    const prose = await failureOf(await faulty({ prose: true }));
    expect(prose.message).toContain('its text is not JSON: I could not find anything.');
    const list = { ...mappedTools.list, text: 'memory.words' };
    expect((await failureOf(await faulty({}, { list }))).message).toContain(
      '"memory.words" is not there: memory is an object with text',
    );
    const tags = { ...mappedTools.list, text: 'memory' };
    expect((await failureOf(await faulty({}, { list: tags }))).message).toContain('"memory" of an item is no text');
  });

  it('says that a tool is not there, and which was meant', async () => {
    const memory = await faulty({}, { list: { ...mappedTools.list, tool: 'everythng' } });
    const error = await heamsErrorOf(memory.open('s', fakeCall()));
    expect(error).toMatchObject({ code: 'memory_no_such_tool', hint: 'did you mean "everything"?' });
    await memory.close();
  });

  it('lets a server print what is no message, and shows it where an answer does not come', async () => {
    const chatty = await faulty({ banner: true });
    expect((await recordOf(chatty)).status).toBe('done');
    await chatty.close();
    const { message } = await failureOf(await faulty({ banner: true, silent: true }, { timeout_s: 0.3 }));
    expect(message).toContain('its stdout has what is no message, and ends: Welcome to the memory server!');
  });

  it('goes on with a fresh process after one that died', async () => {
    const memory = await faulty({ dies: true }, { reuse_processes: true });
    for (let i = 0; i < 2; i++) {
      const scope = await memory.open(`s${i}`, fakeCall());
      await scope.write(pool.slice(0, 2));
      expect((await scope.list()).length).toBe(2);
      expect(await heamsErrorOf(scope.search('x', 1))).toMatchObject({ code: 'memory_died' });
      await scope.dispose();
    }
    await memory.close();
  });

  it('starts the shared program again, and cleans up there', async () => {
    const memory = await faulty({ dies: true }, { isolation: 'argument' });
    const scope = await memory.open('a', fakeCall());
    await heamsErrorOf(scope.search('x', 1));
    const other = await memory.open('b', fakeCall());
    await other.write(pool.slice(0, 2));
    await scope.dispose();
    expect((await other.list()).length).toBe(2);
    await other.dispose();
    await memory.close();
  });
});

describe('scopes', { timeout: 30_000 }, () => {
  it('of many samples at once never mix, in own processes and in a shared one', async () => {
    const backends = [
      await makeMcp({ preset: 'server-memory', reuse_processes: true }),
      await makeMcp({ ...overStdio(), isolation: 'argument' }),
    ];
    for (const memory of backends) {
      const round = (n: number) =>
        Promise.all(
          Array.from({ length: 4 }, async (_, i) => {
            const text = `Secret: canary ${n} ${i}`;
            const scope = await memory.open(`scope-${i}`, fakeCall());
            expect(await scope.list()).toEqual([]);
            await scope.write([{ id: `f${i}`, key: 'Secret', text }]);
            const { items } = await scope.search('canary', 9);
            expect(items.map((item) => item.text)).toEqual([text]);
            await scope.dispose();
          }),
        );
      await round(1);
      await round(2);
      await memory.close();
    }
  });

  it('begin with what an earlier run left cleared away', async () => {
    const state = makeState().set('scope', [{ id: 'old', text: 'left by a run that was killed' }]);
    const server = await startMcpHttp({ state });
    const memory = await makeMcp({ ...mappedTools, url: server.url });
    const scope = await memory.open('scope', fakeCall());
    expect(await scope.list()).toEqual([]);
    expect(state.has('scope')).toBe(false);
    await memory.close();
    await server.close();
  });

  it('are refused where a fresh process holds something and nothing clears it', async () => {
    const { clear: _, ...tools } = overStdio();
    const tidy = await makeMcp(tools);
    const scope = await tidy.open('s', fakeCall());
    await scope.write(pool.slice(0, 1));
    await scope.dispose();
    await tidy.close();
    // Lists another tool's answer, as if the process shared a store with others.
    const list = { tool: 'environment', items: '', text: '' };
    const shared = await makeMcp({ ...tools, list: { ...list, reply: 'text' } });
    expect(await heamsErrorOf(shared.open('s', fakeCall()))).toMatchObject({ code: 'memory_not_empty' });
    await shared.close();
  });

  it('do not tell the server which facts are distractors', async () => {
    const write = { ...mappedTools.write, arguments: { ...mappedTools.write.arguments, text: '{{ fact | json }}' } };
    const memory = await makeMcp({ ...overStdio(), write });
    const scope = await memory.open('s', fakeCall());
    await scope.write([{ id: 'c1.Diet', key: 'Diet', text: 'Diet: none', distractor: true }]);
    const [item] = await scope.list();
    await memory.close();
    expect(item?.text).toContain('"Diet: none"');
    expect(item?.text).not.toContain('distractor');
  });

  it('wait for a server that lists late, where the file says so', async () => {
    const memory = await makeMcp({ ...overStdio({ drops: 'P1234567' }), wait_for_list: true, poll_interval_s: 0.01 });
    const scope = await memory.open('s', fakeCall());
    await scope.write(pool.slice(0, 2));
    await scope.ready(never);
    await scope.write(pool.slice(2, 4));
    await expect(scope.ready(AbortSignal.timeout(100))).rejects.toThrow();
    await scope.dispose();
    await memory.close();
  });
});

describe('the environment of a program', () => {
  const tools = {
    ...overStdio(),
    list: { tool: 'everything', arguments: { user: 'x' }, items: 'results', text: 'memory.text' },
    search: { tool: 'environment', items: '', text: '{{ item }}', reply: 'text' },
  };

  it('is what its file names and the few that every program needs', async () => {
    const env = { MEMORY_FILE: '{{ folder }}/m.json', TOKEN: `Bearer \${MY_TOKEN}` };
    const memory = await makeMcp({ ...tools, env }, { MY_TOKEN: 'tok-123456', OPENAI_API_KEY: 'sk-not-for-it' });
    const scope = await memory.open('s', fakeCall());
    const seen = JSON.parse((await scope.search('x', 1)).items[0]?.text ?? '') as Record<string, string>;
    expect(seen.TOKEN).toBe('Bearer tok-123456');
    expect(seen.MEMORY_FILE).toMatch(/heams-mcp-\w+\/m\.json$/);
    expect(seen.OPENAI_API_KEY).toBeUndefined();
    await memory.close();
  });

  it('is refused where a variable is not set', async () => {
    const memory = await makeMcp({ ...tools, env: { TOKEN: `\${MY_TOKEN}` } });
    expect(await heamsErrorOf(memory.open('s', fakeCall()))).toMatchObject({ code: 'missing_variable' });
    await memory.close();
  });
});

describe('over HTTP', () => {
  it('sends the headers, ends its session, and says how a key was refused without showing it', async () => {
    const headers = { authorization: `Bearer \${MY_KEY}` };
    const env = { MY_KEY: 'key-1234567890' };
    const server = await startMcpHttp();
    const memory = await makeMcp({ ...mappedTools, url: server.url, headers }, env);
    expect((await recordOf(memory)).status).toBe('done');
    expect(server.requests.every((request) => request.headers.authorization === 'Bearer key-1234567890')).toBe(true);
    expect(server.sessions.size).toBe(1);
    await memory.close();
    expect(server.sessions.size).toBe(0);
    await server.close();

    const strict = await startMcpHttp({ refuse: () => 401 });
    const refused = await failureOf(await makeMcp({ ...mappedTools, url: strict.url, headers }, env));
    expect(refused).toMatchObject({ stage: 'memory', code: 'memory_auth' });
    expect(refused.message).not.toContain('key-1234567890');
    await strict.close();
  });

  it('opens a new session where the server has forgotten the old one', async () => {
    let broken = false;
    const server = await startMcpHttp({ refuse: () => (broken ? 404 : undefined) });
    const memory = await makeMcp({ ...mappedTools, url: server.url });
    expect((await recordOf(memory)).status).toBe('done');
    broken = true;
    expect(await recordOf(memory)).toMatchObject({ status: 'failed', error: { code: 'memory_unreachable' } });
    broken = false;
    expect((await recordOf(memory)).status).toBe('done');
    await memory.close();
    await server.close();
  });

  it('says that nobody is there', async () => {
    const server = await startMcpHttp();
    await server.close();
    const failure = await failureOf(await makeMcp({ ...mappedTools, url: server.url }));
    expect(failure).toMatchObject({ stage: 'memory', code: 'memory_unreachable' });
    expect(failure.message).toContain('ECONNREFUSED');
  });
});
