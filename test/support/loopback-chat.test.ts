import { describe, expect, it } from 'vitest';
import { fitting, spawnLoopback, startLoopback } from './loopback-chat.ts';

const ask = (baseUrl: string, body: object = {}) =>
  fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'as JSON' }], ...body }),
  });

describe('startLoopback', () => {
  it('draws its faults by seed, in the shares it is given', async () => {
    const outcomes = async (seed: number) => {
      const server = await startLoopback({ faults: { seed, rateLimit: 0.2, serverError: 0.1, malformed: 0.1 } });
      const statuses: number[] = [];
      for (let i = 0; i < 300; i++) {
        const response = await ask(server.baseUrl);
        statuses.push(response.status);
        await response.text();
      }
      await server.close();
      return { statuses, kinds: server.stats.byKind };
    };
    const first = await outcomes(1);
    expect(await outcomes(1)).toEqual(first);
    expect((await outcomes(2)).statuses).not.toEqual(first.statuses);
    // 60, 30 and 30 are expected of 300; four standard deviations are about 28 and 21.
    expect(Math.abs((first.kinds.rate_limit ?? 0) - 60)).toBeLessThan(28);
    expect(Math.abs((first.kinds.server_error ?? 0) - 30)).toBeLessThan(21);
    expect(Math.abs((first.kinds.malformed ?? 0) - 30)).toBeLessThan(21);
  });

  it('breaks the text of a malformed answer, not the envelope', async () => {
    const server = await startLoopback({ answer: () => '{"leaked":true}', faults: { malformed: 1 } });
    const body = (await (await ask(server.baseUrl)).json()) as { choices: { message: { content: string } }[] };
    expect(() => JSON.parse(body.choices[0]?.message.content ?? '')).toThrow(SyntaxError);
    await server.close();
  });

  it('refuses what is beyond its limit, and counts', async () => {
    const server = await startLoopback({ latencyMs: 20, maxInFlight: 2 });
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await ask(server.baseUrl)).status));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
    expect(statuses).toContain(429);
    expect(server.stats).toMatchObject({ requests: 5, peakInFlight: 5, inFlight: 0 });
    await server.close();
  });
});

describe('spawnLoopback', () => {
  it('runs in a process of its own and gives its counters', async () => {
    const server = await spawnLoopback();
    expect((await ask(server.baseUrl)).status).toBe(200);
    expect(await server.stats()).toMatchObject({ requests: 1, answered: 1 });
    await server.close();
  });
});

describe('fitting', () => {
  it('makes a value of the schema', () => {
    const schema = {
      type: 'object',
      properties: {
        leaked: { type: 'boolean' },
        rating: { enum: ['Poor', 'Good'] },
        score: { type: 'integer', minimum: 1 },
        why: { type: ['string', 'null'] },
        items: { type: 'array', minItems: 2, items: { type: 'object', properties: { id: { const: 7 } } } },
      },
    };
    expect(fitting(schema)).toEqual({
      leaked: false,
      rating: 'Poor',
      score: 1,
      why: 'loopback',
      items: [{ id: 7 }, { id: 7 }],
    });
  });
});
