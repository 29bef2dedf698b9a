import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { type Loopback, type LoopbackOptions, startLoopback } from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import type { Clock } from '../contracts/call.ts';
import { ModelError } from '../contracts/model.ts';
import type { ModelSettings } from '../schema/model-settings.ts';

const CANARY = 'canary-key-0123456789';
const env = { OPENAI_API_KEY: CANARY, ANTHROPIC_API_KEY: CANARY, GEMINI_API_KEY: CANARY };
const hello = { messages: [{ role: 'user' as const, content: 'Hello?' }] };

let server: Loopback;
let options: LoopbackOptions;
beforeEach(async () => {
  options = {};
  server = await startLoopback(options);
});
afterEach(() => server.close());

/** Time in which waits for another attempt pass at once, and deadlines never come. */
const impatient: Clock = {
  now: () => Date.parse('2026-01-01T00:00:00Z'),
  monotonic: () => 0,
  sleep: (ms) => (ms >= 100_000 ? new Promise(() => {}) : Promise.resolve()),
};

/** How one call ends: the error, and all that could be printed of it. */
async function failure(settings: Partial<ModelSettings> = {}): Promise<{ error: ModelError; text: string }> {
  const model = await testFactory({ env, clock: impatient }).chat({
    model_id: 'openai:gpt-4o-mini',
    base_url: server.baseUrl,
    timeout_s: 200,
    ...settings,
  });
  const error = await model.generate(hello, fakeCall()).catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelError)) throw new Error(`not a ModelError: ${String(error)}`);
  return { error, text: `${error.describe()} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}` };
}

const anthropic = () => ({ model_id: 'anthropic:claude-haiku-4-5', base_url: server.url });
const google = () => ({ model_id: 'google:gemini-2.5-flash', base_url: server.url });
const says = (message: string, more: Record<string, unknown> = {}) => JSON.stringify({ error: { message, ...more } });

describe('statuses', () => {
  it.each([
    [401, says('bad key'), 'auth'],
    [403, says('not for you'), 'auth'],
    [402, says('Insufficient Balance'), 'quota'],
    [404, says('no such model'), 'not_found'],
    [400, says('temperature is too high'), 'bad_request'],
    [413, 'too large', 'bad_request'],
    [422, says('what?'), 'bad_request'],
    [408, '', 'timeout'],
    [409, says('conflict'), 'server'],
    [429, says('slow down', { code: 'rate_limit_exceeded' }), 'rate_limit'],
    [429, says('You exceeded your current quota', { code: 'insufficient_quota', type: 'insufficient_quota' }), 'quota'],
    [429, says('no active plan', { code: 'billing_not_active' }), 'quota'],
    [500, says('oops'), 'server'],
    [503, '<html><body>Service <b>Unavailable</b></body></html>', 'server'],
    [529, says('overloaded', { type: 'overloaded_error' }), 'server'],
  ] as const)('%i %s is %s', async (status, body, kind) => {
    options.raw = () => ({ status, body, headers: { 'retry-after': '9999' } });
    const { error } = await failure();
    expect(error).toMatchObject({ kind, status, modelId: 'openai:gpt-4o-mini' });
    expect(error.message).toContain(`openai:gpt-4o-mini: HTTP ${status}`);
    expect(error.message).not.toContain('<');
  });

  it("reads Anthropic's and Google's own ways to say it", async () => {
    options.raw = () => ({
      status: 400,
      body: JSON.stringify({
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low' },
      }),
    });
    expect((await failure(anthropic())).error.kind).toBe('quota');
    options.raw = () => ({
      status: 400,
      body: says('API key not valid', { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }),
    });
    expect((await failure(google())).error.kind).toBe('auth');
    options.raw = () => ({
      status: 429,
      body: says('Check your plan and billing details', {
        status: 'RESOURCE_EXHAUSTED',
        details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] }],
      }),
    });
    expect((await failure(google())).error.kind).toBe('quota');
    options.raw = () => ({
      status: 429,
      body: says('Check your plan and billing details', {
        status: 'RESOURCE_EXHAUSTED',
        details: [{ retryDelay: '3600s' }],
      }),
    });
    expect((await failure(google())).error).toMatchObject({ kind: 'rate_limit', retryAfterMs: 3_600_000 });
  });

  it('reads plain and odd error bodies', async () => {
    options.raw = () => ({ status: 404, body: '{"error":"model \\"x\\" not found, try pulling it first"}' });
    expect((await failure()).error.message).toContain('HTTP 404: model "x" not found, try pulling it first');
    options.raw = () => ({ status: 400, body: '{"object":"error","message":"max_tokens is too large","code":400}' });
    expect((await failure()).error.message).toContain('HTTP 400: max_tokens is too large');
  });

  it('cuts a long body and gives a hint where one helps', async () => {
    options.raw = () => ({ status: 404, body: 'x'.repeat(5000) });
    const { error } = await failure({ model_id: 'openai-compatible:m', base_url: server.url });
    expect(error.message.length).toBeLessThan(400);
    expect(error.hint).toContain('/v1');
  });

  it('follows no redirect', async () => {
    let elsewhere = 0;
    const other = await startLoopback({ onRequest: () => elsewhere++ });
    options.raw = () => ({ status: 307, headers: { location: `${other.baseUrl}/chat/completions` } });
    const { error } = await failure();
    await other.close();
    expect(error).toMatchObject({ kind: 'bad_request', status: 307 });
    expect(error.hint).toContain('base_url');
    expect(elsewhere).toBe(0);
  });
});

describe('answers that are none', () => {
  const ok = { status: 200, headers: { 'content-type': 'application/json' } };

  it.each([
    ['a page', '<html><h1>Welcome</h1></html>'],
    ['cut-off JSON', '{"id":"x","choices":[{"index":0,"message":{"role":"assi'],
    ['nothing', ''],
    ['no choices', '{"id":"x","choices":[]}'],
    ['another shape', '{"ok":true}'],
    ['an error in disguise', says('backend is down')],
  ])('%s is a bad response', async (_name, body) => {
    options.raw = () => ({ ...ok, body });
    for (const settings of [{}, { model_id: 'openai-compatible:m' }]) {
      expect((await failure(settings)).error).toMatchObject({ kind: 'bad_response' });
    }
    expect(server.stats.requests).toBe(12);
  });

  it('an empty list of candidates is a bad response, a blocked prompt is a refusal', async () => {
    options.raw = () => ({ ...ok, body: '{"candidates":[]}' });
    expect((await failure(google())).error.kind).toBe('bad_response');
    options.raw = () => ({ ...ok, body: '{"promptFeedback":{"blockReason":"SAFETY"}}' });
    const model = await testFactory({ env }).chat(google());
    expect((await model.generate(hello, fakeCall())).finishReason).toBe('refused');
  });
});

describe('the network', () => {
  it('a dropped socket and a closed port are network errors', async () => {
    options.faults = { drop: 1 };
    const dropping = await startLoopback({ faults: { drop: 1 } });
    expect((await failure({ base_url: dropping.baseUrl })).error).toMatchObject({ kind: 'network', status: undefined });
    await dropping.close();
    const { error } = await failure({ base_url: dropping.baseUrl });
    expect(error.kind).toBe('network');
    expect(error.message).toContain(`no answer from ${dropping.baseUrl} (ECONNREFUSED)`);
    expect(error.message).toContain('given up after 6 attempts');
  });

  it('a body that stops half-way is one of them', async () => {
    const half = createServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"id":');
        setImmediate(() => socket.destroy());
      });
    });
    await new Promise<void>((resolve) => half.listen(0, '127.0.0.1', resolve));
    const { error } = await failure({ base_url: `http://127.0.0.1:${(half.address() as AddressInfo).port}/v1` });
    half.close();
    expect(error.kind).toBe('network');
  });
});

describe('the key', () => {
  it('is in no error, whatever the server repeats', async () => {
    const repeats = [
      { status: 401, body: says(`Incorrect API key provided: ${CANARY}`) },
      { status: 400, body: says(`bad header authorization: Bearer ${CANARY}`) },
      { status: 200, body: `<p>${CANARY}</p>` },
      { status: 400, body: `${'x'.repeat(290)}${CANARY}` },
      { status: 200, body: `{"choices":"${CANARY}"}` },
      { status: 302, headers: { location: `http://host/?key=${CANARY}` }, body: CANARY },
    ];
    for (const settings of [{}, anthropic(), google(), { headers: { 'x-extra': 'canary-header-9876' } }]) {
      for (const raw of repeats) {
        options.raw = () => ({ ...raw, body: `${raw.body}`.replace('Bearer', 'canary-header-9876 Bearer') });
        const { text } = await failure(settings);
        expect(text).not.toContain(CANARY.slice(0, 12));
        if ('headers' in settings) expect(text).not.toContain('canary-header');
      }
    }
  });

  it('that is refused fails at once', async () => {
    const strict = await startLoopback({ apiKey: 'another' });
    const { error, text } = await failure({ base_url: strict.baseUrl });
    expect(error).toMatchObject({ kind: 'auth', status: 401 });
    expect(strict.stats.requests).toBe(1);
    expect(text).not.toContain('canary');
    await strict.close();
  });
});
