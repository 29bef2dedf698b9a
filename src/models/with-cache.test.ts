import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import type { CallContext } from '../contracts/call.ts';
import type { ChatReply, ChatRequest } from '../contracts/model.ts';
import { withCache } from './with-cache.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'heams-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const question: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };

/** A model that numbers its replies, behind a cache. */
function cached(overrides: Partial<ChatReply> = {}, identity: unknown = { temperature: 0 }, folder = dir) {
  let asked = 0;
  const inner = async (_request: ChatRequest, call: CallContext): Promise<ChatReply> => {
    asked++;
    await new Promise((resolve) => setImmediate(resolve));
    call.signal.throwIfAborted();
    call.meter.add(call.stage, { calls: 1 });
    return {
      text: `reply ${asked}`,
      toolRequests: [],
      finishReason: 'stop',
      usage: { inputTokens: 3 },
      warnings: [],
      ...overrides,
    };
  };
  return { ask: withCache(inner, { dir: folder, modelId: 'p:m', identity }), asked: () => asked };
}

async function files(): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe('withCache', () => {
  it('asks once, answers the same again, and counts a hit that costs nothing', async () => {
    const first = cached({
      toolRequests: [{ id: '1', name: 'f', input: { a: [1, null] } }],
      finishReason: 'tool_calls',
      modelVersion: 'v1',
    });
    const original = await first.ask(question, fakeCall());
    const second = cached();
    const call = fakeCall();
    expect(await second.ask(question, call)).toEqual(original);
    expect(second.asked()).toBe(0);
    expect(call.spent.agent).toMatchObject({ calls: 0, cached_calls: 1, cost_usd: 0 });
    expect(await files()).toEqual([expect.stringMatching(/[/\\]([0-9a-f]{2})[/\\]\1[0-9a-f]{62}\.json$/)]);
  });

  it('asks again when anything that shapes the answer differs', async () => {
    const { ask, asked } = cached();
    await ask(question, fakeCall());
    await ask({ ...question, maxTokens: 5 }, fakeCall());
    await ask({ messages: [{ role: 'user', content: 'Hello!' }] }, fakeCall());
    await ask({ ...question, jsonSchema: { name: 'x', schema: { type: 'object' } } }, fakeCall());
    await ask(question, fakeCall({ salt: 'sample:1' }));
    expect(asked()).toBe(5);
    const other = cached({}, { temperature: 1 });
    await other.ask(question, fakeCall());
    expect(other.asked()).toBe(1);
  });

  it('takes keys in any order for the same request', async () => {
    const { ask, asked } = cached({}, { a: 1, b: 2 });
    await ask({ maxTokens: 5, messages: [{ role: 'user', content: 'Hello' }] }, fakeCall());
    await ask({ messages: [{ content: 'Hello', role: 'user' }], maxTokens: 5 }, fakeCall());
    expect(asked()).toBe(1);
  });

  it.each(['{"format":1', '{}', '', '{"format":1,"model":"p:m","reply":{"text":7}}'])(
    'asks again and replaces an entry that reads %s',
    async (broken) => {
      await cached().ask(question, fakeCall());
      const [path = ''] = await files();
      const good = await readFile(path, 'utf8');
      await writeFile(path, broken);
      const { ask, asked } = cached();
      await ask(question, fakeCall());
      expect(asked()).toBe(1);
      expect(await readFile(path, 'utf8')).toBe(good);
      expect(await files()).toHaveLength(1);
    },
  );

  it.each(['cut_off', 'refused', 'other'] as const)('does not keep a reply that is %s', async (finishReason) => {
    const { ask, asked } = cached({ finishReason });
    await ask(question, fakeCall());
    await ask(question, fakeCall());
    expect([asked(), await files()]).toEqual([2, []]);
  });

  it('asks once for identical calls in flight', async () => {
    const { ask, asked } = cached();
    const call = fakeCall();
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(question, call)));
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['reply 1']));
    expect([asked(), call.spent.agent.calls, call.spent.agent.cached_calls]).toEqual([1, 1, 4]);
  });

  it("does not let one caller's abort fail another", async () => {
    const { ask, asked } = cached();
    const controller = new AbortController();
    const first = ask(question, fakeCall({ signal: controller.signal })).catch((error: unknown) => error);
    const second = ask(question, fakeCall());
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort('gone');
    expect(await first).toBe('gone');
    expect((await second).text).toBe(`reply ${asked()}`);
  });

  it('lets a caller who waits for another go when it aborts', async () => {
    const { ask } = cached();
    const controller = new AbortController();
    const first = ask(question, fakeCall());
    const second = ask(question, fakeCall({ signal: controller.signal })).catch((error: unknown) => error);
    controller.abort('gone');
    expect(await second).toBe('gone');
    expect((await first).text).toBe('reply 1');
  });

  it('gives a reply that it cannot store all the same, with a warning', async () => {
    const folder = join(dir, 'a-file');
    await writeFile(folder, '');
    const reply = await cached({}, {}, folder).ask(question, fakeCall());
    expect(reply.text).toBe('reply 1');
    expect(reply.warnings).toEqual([expect.stringContaining('the reply could not be cached')]);
  });
});
