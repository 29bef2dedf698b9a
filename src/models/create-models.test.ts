import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { type Loopback, type LoopbackOptions, startLoopback } from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import type { Clock } from '../contracts/call.ts';
import { BudgetError } from '../contracts/model.ts';
import { systemClock } from '../lib/clock.ts';
import { createBudget } from './with-budget.ts';

let server: Loopback;
const servers: Loopback[] = [];
async function serve(options: LoopbackOptions = {}): Promise<Loopback> {
  const started = await startLoopback(options);
  servers.push(started);
  return started;
}
beforeEach(async () => {
  server = await serve();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((one) => one.close()));
});

const hello = { messages: [{ role: 'user' as const, content: 'Hello?' }] };
const local = (one: Loopback) => ({ model_id: 'openai-compatible:m', base_url: one.baseUrl });
/** The real clock, so many times as fast. */
const fastClock = (factor: number): Clock => ({
  now: () => Date.now(),
  monotonic: () => performance.now() * factor,
  sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
});
/** Resolves once the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('createModelFactory', () => {
  it('gives the same model for the same settings, in any order of keys', async () => {
    const factory = testFactory();
    const one = await factory.chat({ ...local(server), temperature: 0 });
    expect(await factory.chat({ temperature: 0, ...local(server) })).toBe(one);
    expect(await factory.chat({ ...local(server), temperature: 1 })).not.toBe(one);
  });

  it('throws what checkModel finds, and tries again when asked again', async () => {
    const env: Record<string, string> = {};
    const factory = testFactory({ env });
    await expect(factory.chat({ model_id: 'openai:gpt-4o-mini' })).rejects.toMatchObject({ code: 'missing_api_key' });
    env.OPENAI_API_KEY = 'a-key';
    await expect(factory.chat({ model_id: 'openai:gpt-4o-mini' })).resolves.toMatchObject({ id: 'openai:gpt-4o-mini' });
    await factory.close();
  });

  it('shares one limit among the models of an account, and no further', async () => {
    const slow = await serve({ latencyMs: 20 });
    const factory = testFactory({ maxConnections: 3 });
    const models = [await factory.chat(local(slow)), await factory.chat({ ...local(slow), temperature: 1 })];
    await Promise.all(Array.from({ length: 20 }, (_, i) => models[i % 2]?.generate(hello, fakeCall())));
    expect(slow.stats.peakInFlight).toBe(3);
    const narrow = await factory.chat({ ...local(server), max_connections: 1 });
    await Promise.all(Array.from({ length: 5 }, () => narrow.generate(hello, fakeCall())));
    expect(server.stats.peakInFlight).toBe(1);
  });

  it('gets every answer out of a faulty server', async () => {
    const faulty = await serve({
      answer: (body) => body.messages[0]?.content ?? '',
      faults: { seed: 3, rateLimit: 0.1, retryAfterS: 0.01, serverError: 0.05, drop: 0.02, hang: 0.01 },
    });
    const clock = fastClock(20);
    const model = await testFactory({ clock, maxConnections: 32 }).chat({ ...local(faulty), timeout_s: 40 });
    const call = fakeCall();
    const texts = Array.from({ length: 400 }, (_, i) => `question ${i}`);
    const replies = await Promise.all(
      texts.map((content) => model.generate({ messages: [{ role: 'user', content }] }, call)),
    );
    expect(replies.map(({ text }) => text)).toEqual(texts);
    expect(call.spent.agent.calls).toBe(400);
    expect(call.spent.agent.retries).toBe(faulty.stats.requests - 400);
  });

  it('learns the concurrency that a server bears', async () => {
    const strict = await serve({ maxInFlight: 4, latencyMs: 5 });
    const clock = fastClock(20);
    const model = await testFactory({ clock, maxConnections: 32 }).chat(local(strict));
    await Promise.all(Array.from({ length: 150 }, () => model.generate(hello, fakeCall())));
    expect(strict.stats.answered).toBe(150);
    expect(strict.stats.byKind.over_limit).toBeGreaterThan(0);
  });

  it('closes the socket of an attempt that takes too long, and tries again', async () => {
    let first = true;
    const hanging = await serve({
      answer: () => {
        if (!first) return 'late but here';
        first = false;
        return new Promise<string>(() => {});
      },
    });
    const model = await testFactory({ random: () => 0 }).chat({ ...local(hanging), timeout_s: 0.05 });
    const call = fakeCall();
    expect((await model.generate(hello, call)).text).toBe('late but here');
    await until(() => hanging.stats.abandoned === 1);
    expect(call.spent.agent).toMatchObject({ calls: 1, retries: 1 });
  });

  it('closes the sockets of calls under way when the run is aborted', async () => {
    const hanging = await serve({ faults: { hang: 1 } });
    const model = await testFactory({ maxConnections: 2 }).chat(local(hanging));
    const controller = new AbortController();
    const call = fakeCall({ signal: controller.signal });
    const outcomes = Array.from({ length: 5 }, () => model.generate(hello, call).catch((error: unknown) => error));
    await until(() => hanging.stats.inFlight === 2);
    controller.abort('stopped by hand');
    expect(await Promise.all(outcomes)).toEqual(Array(5).fill('stopped by hand'));
    await until(() => hanging.stats.abandoned === 2);
    expect(hanging.stats.requests).toBe(2);
  });

  it('waits as long as Retry-After says before it comes back', async () => {
    const waits: number[] = [];
    let n = 0;
    const busy = await serve({ raw: () => (n++ === 0 ? { status: 429, headers: { 'retry-after': '7' } } : undefined) });
    const sleep = async (ms: number, signal?: AbortSignal) => {
      if (ms > 60_000) return systemClock.sleep(ms, signal);
      waits.push(ms);
    };
    const model = await testFactory({ clock: { ...systemClock, sleep }, random: () => 0.5 }).chat(local(busy));
    await model.generate(hello, fakeCall());
    expect(waits).toEqual([7250]);
  });

  it('does not try again on a spent quota', async () => {
    const body = '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}';
    const broke = await serve({ raw: () => ({ status: 429, body }) });
    const model = await testFactory().chat(local(broke));
    await expect(model.generate(hello, fakeCall())).rejects.toMatchObject({ kind: 'quota' });
    expect(broke.stats.requests).toBe(1);
  });

  it('draws all models on one budget', async () => {
    const budget = createBudget({ max_calls: 3 });
    const factory = testFactory({ budget });
    const chat = await factory.chat(local(server));
    const embedder = await factory.embedder(local(server));
    await chat.generate(hello, fakeCall());
    await embedder.embed(['a'], fakeCall());
    await chat.generate(hello, fakeCall());
    await expect(chat.generate(hello, fakeCall())).rejects.toBeInstanceOf(BudgetError);
    await expect(embedder.embed(['a'], fakeCall())).rejects.toBeInstanceOf(BudgetError);
    expect(server.stats.requests).toBe(3);
  });
});

describe('a budget of tokens', () => {
  it('stops calls that were waiting for a connection when it was reached', async () => {
    const budget = createBudget({ max_tokens: 30 });
    const chat = await testFactory({ budget, maxConnections: 1 }).chat(local(server));
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => chat.generate(hello, fakeCall())));
    const spent = budget.spent.input_tokens + budget.spent.output_tokens;
    const answered = outcomes.filter(({ status }) => status === 'fulfilled').length;
    // One connection, so the call that reached the limit was the last one.
    expect(spent - spent / answered).toBeLessThan(30);
    expect(spent).toBeGreaterThanOrEqual(30);
    expect(server.stats.requests).toBe(answered);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(BudgetError);
  });
});

describe('the response cache', () => {
  let cacheDir: string;
  beforeEach(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), 'heams-'));
  });
  afterEach(() => rm(cacheDir, { recursive: true, force: true }));

  it('answers another run without a request, and takes nothing from its budget', async () => {
    const first = await testFactory({ cacheDir }).chat({ ...local(server), temperature: 0 });
    const reply = await first.generate(hello, fakeCall());
    const budget = createBudget({ max_calls: 1 });
    budget.add({ calls: 1 });
    const second = await testFactory({ cacheDir, budget }).chat({ ...local(server), temperature: 0 });
    expect(await second.generate(hello, fakeCall())).toEqual(reply);
    expect(server.stats.requests).toBe(1);
  });

  it('tells apart what shapes an answer, and nothing else', async () => {
    const env = { KEY_A: 'key-a', KEY_B: 'key-b' };
    const ask = async (settings: object) => {
      const before = server.stats.requests;
      await (await testFactory({ cacheDir, env }).chat({ ...local(server), ...settings })).generate(hello, fakeCall());
      return server.stats.requests - before;
    };
    expect(await ask({})).toBe(1);
    for (const same of [
      { timeout_s: 9 },
      { max_connections: 2 },
      { api_key_env: 'KEY_A' },
      { headers: { Authorization: 'x' } },
    ]) {
      expect(await ask(same)).toBe(0);
    }
    for (const other of [
      { temperature: 0 },
      { seed: 1 },
      { max_tokens: 9 },
      { top_p: 0.5 },
      { model_id: 'openai-compatible:n' },
      { headers: { 'x-mode': 'a' } },
    ]) {
      expect(await ask(other)).toBe(1);
    }
  });
});
