import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { type BrokenAnswer, startBroken } from '../../test/support/loopback-broken.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import type { ModelErrorKind } from '../contracts/model.ts';

/** What each broken answer counts as; docs/reliability.md has the same table. */
const tried: readonly [BrokenAnswer, ModelErrorKind][] = [
  ['429 with Retry-After', 'rate_limit'],
  ['500', 'server'],
  ['503 HTML page', 'server'],
  ['cut body', 'network'],
  ['slow drip', 'timeout'],
  ['hang', 'timeout'],
  ['HTML with status 200', 'bad_response'],
  ['damaged gzip', 'bad_response'],
  ['50 MB answer', 'bad_response'],
  ['50 MB packed into 50 kB', 'bad_response'],
  ['50 MB error page', 'bad_response'],
  ['late answer, after the deadline', 'timeout'],
];

/** A deadline is short only where it is what is tried: a busy machine takes its time over 50 MB. */
const deadlines = new Set(tried.filter(([, expected]) => expected === 'timeout').map(([kind]) => kind));

async function ask(kind: BrokenAnswer, times: number) {
  const server = await startBroken(kind, times);
  // Jitter near nothing, so that what is tried again is tried again at once.
  const factory = testFactory({ random: () => 0.001 });
  const settings = {
    model_id: 'openai-compatible:m',
    base_url: server.baseUrl,
    timeout_s: deadlines.has(kind) ? 0.5 : 20,
  };
  const call = fakeCall();
  try {
    const model = await factory.chat(settings);
    const result = await model.generate({ messages: [{ role: 'user', content: 'Hello?' }] }, call).then(
      (reply) => ({ text: reply.text }),
      (error: unknown) => ({ error: error as { kind: string; message: string } }),
    );
    return { ...result, requests: server.requests(), retries: call.spent.agent?.retries };
  } finally {
    await server.close();
    await factory.close();
  }
}

describe('a broken answer', () => {
  it.each(tried)('%s: the call is asked again, and the good answer counts', { timeout: 30_000 }, async (kind) => {
    expect(await ask(kind, 1)).toEqual({ text: 'good', requests: 2, retries: 1 });
  });

  it.each(tried.filter(([kind]) => kind !== '429 with Retry-After'))(
    '%s, always: the call fails as %s',
    {
      timeout: 60_000,
    },
    async (kind, expected) => {
      const { requests, ...rest } = await ask(kind, Number.POSITIVE_INFINITY);
      expect(rest).toMatchObject({ error: { kind: expected, code: `model_${expected}` } });
      expect(requests).toBe(6);
    },
  );

  it.each([
    ['lone surrogates', 'good \ud800'],
    ['id of another request', 'good'],
  ] as const)('%s: is an answer, since each one has a connection of its own', async (kind, text) => {
    expect(await ask(kind, 1)).toMatchObject({ text, requests: 1 });
  });
});
