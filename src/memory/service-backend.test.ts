import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { fakeCall, manualClock } from '../../test/support/fake-call.ts';
import { fakeCapabilities } from '../../test/support/fake-parts.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import type { Fact, StoredItem } from '../schema/record.ts';
import { type ServiceBackendSpec, type ServiceStore, serviceBackend } from './service-backend.ts';

const facts: readonly Fact[] = [
  { id: 'f0', key: 'Name', text: 'Name: Zoë' },
  { id: 'f1', key: 'Room', text: 'Room: 12' },
];
const stored = facts.map(({ id, text }) => ({ text, fact_ids: [id] }));
const later = () => new Promise((resolve) => setImmediate(resolve));

/** A service whose answers come later, and which forgets what an earlier run left under an id when it is opened again. */
function service(overrides: Partial<ServiceStore> = {}, spec: Partial<ServiceBackendSpec> = {}) {
  const kept = new Map<string, StoredItem[]>();
  const calls: string[] = [];
  const clock = manualClock();
  const backend = serviceBackend({
    name: 'fake_service',
    topK: 3,
    capabilities: fakeCapabilities(),
    clock,
    async open(scopeId) {
      await later();
      kept.set(scopeId, []);
      const items = () => kept.get(scopeId) ?? [];
      return {
        async add(written) {
          calls.push(`add ${written.map(({ id }) => id).join(' ')}`);
          await later();
          items().push(...written.map(({ id, text }) => ({ text, fact_ids: [id] })));
        },
        async all() {
          await later();
          return [...items()];
        },
        async find(query, k) {
          await later();
          const words = query.toLowerCase().split(/\W+/).filter(Boolean);
          const scored = items().map((item) => ({
            ...item,
            score: words.filter((word) => item.text.toLowerCase().includes(word)).length,
          }));
          return { items: scored.sort((a, b) => b.score - a.score).slice(0, k), raw: { took: 1 } };
        },
        async clear() {
          calls.push('clear');
          await later();
          kept.delete(scopeId);
        },
        ...overrides,
      };
    },
    ...spec,
  });
  return { backend, kept, calls, clock };
}

memoryContract('a service', async () => service().backend, { capabilities: fakeCapabilities() });
memoryContract(
  'a service that takes one scope at a time',
  async () => service({}, { capabilities: fakeCapabilities({ max_concurrency: 2 }) }).backend,
  { capabilities: fakeCapabilities({ max_concurrency: 2 }) },
);

describe('a scope of a service', () => {
  it('writes in turn, and nothing where there is nothing to write', async () => {
    const { backend, calls } = service();
    const scope = await backend.open('s', fakeCall());
    await Promise.all([scope.write([facts[0] as Fact]), scope.write([]), scope.write([facts[1] as Fact])]);
    expect(calls).toEqual(['add f0', 'add f1']);
    expect(await scope.list()).toEqual(stored);
  });

  it('tells the writer of a write that failed, and goes on with the next', async () => {
    let n = 0;
    const { backend } = service({ add: async () => (n++ === 0 ? Promise.reject(new Error('429')) : undefined) });
    const scope = await backend.open('s', fakeCall());
    const writes = [scope.write(facts), scope.write(facts)];
    await expect(writes[0]).rejects.toThrow('429');
    await writes[1];
    await scope.ready(new AbortController().signal);
    expect(n).toBe(2);
  });

  it('asks again and again until all that was written can be found', async () => {
    const asked: number[] = [];
    const { backend, clock } = service(
      { settled: async (written) => asked.push(written.length) > 2 },
      { pollMs: 1000 },
    );
    const scope = await backend.open('s', fakeCall());
    await scope.write(facts);
    let done = false;
    const ready = scope.ready(new AbortController().signal).then(() => {
      done = true;
    });
    await clock.advance(1999);
    expect([asked, done]).toEqual([[2, 2], false]);
    await clock.advance(1);
    await ready;
    expect(asked).toEqual([2, 2, 2]);
  });

  it('stops asking when it is told to, when it is disposed of, and when asking fails', async () => {
    const never = service({ settled: async () => false });
    const control = new AbortController();
    const reason = new Error('not in time');
    const scope = await never.backend.open('s', fakeCall());
    await scope.write(facts);
    const waiting = expect(scope.ready(control.signal)).rejects.toBe(reason);
    await never.clock.advance(1000);
    control.abort(reason);
    await waiting;
    expect(never.clock.sleepers).toBe(0);

    const abandoned = expect(scope.ready(new AbortController().signal)).rejects.toThrow('disposed');
    await never.clock.advance(1);
    await scope.dispose();
    await never.clock.advance(1000);
    await abandoned;

    const failing = service({ settled: () => Promise.reject(new Error('500')) });
    const other = await failing.backend.open('s', fakeCall());
    await other.write(facts);
    await expect(other.ready(new AbortController().signal)).rejects.toThrow('500');
  });

  it('gives up a look at the service that does not come back', async () => {
    const { backend } = service({ settled: () => new Promise(() => {}) });
    const scope = await backend.open('s', fakeCall());
    await scope.write(facts);
    const control = new AbortController();
    const waiting = expect(scope.ready(control.signal)).rejects.toThrow('late');
    await later();
    control.abort(new Error('late'));
    await waiting;
  });

  it('keeps the raw reply, and leaves out what was asked for where k is not honoured', async () => {
    const one = await service().backend.open('s', fakeCall());
    await one.write(facts);
    expect(await one.search('room', 1)).toEqual({
      query: 'room',
      requested_k: 1,
      items: [{ text: 'Room: 12', fact_ids: ['f1'], score: 1 }],
      raw: { took: 1 },
    });
    const capabilities = fakeCapabilities({ honours_k: false });
    const all = await service({ find: async () => ({ items: stored }) }, { capabilities }).backend.open(
      's',
      fakeCall(),
    );
    expect(await all.search('room', 1)).toEqual({ query: 'room', items: stored });
    for (const k of [0, -1, 1.5, Number.NaN]) await expect(one.search('room', k)).rejects.toThrow(RangeError);
  });

  it('clears once, after the writes that were under way, and not the scope of another', async () => {
    const { backend, calls, kept } = service();
    const scope = await backend.open('s', fakeCall());
    const other = await backend.open('s2', fakeCall());
    await other.write(facts);
    calls.length = 0;
    const writing = scope.write(facts).catch((error: Error) => error.message);
    await Promise.all([scope.dispose(), scope.dispose()]);
    await scope.dispose();
    expect(calls).toEqual(['clear']);
    expect(await writing).toContain('disposed');
    expect(kept.has('s')).toBe(false);
    expect(await other.list()).toEqual(stored);
  });

  it.each([true, false])('gives up a write that is under way: %s, as the service says', async (givesUpWrites) => {
    const signals: AbortSignal[] = [];
    const { backend } = service(
      {},
      {
        givesUpWrites,
        async open(_id, { signal }) {
          signals.push(signal);
          const add = () =>
            new Promise<void>((resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
              setTimeout(resolve, 20);
            });
          return { add, all: async () => [], find: async () => ({ items: [] }), clear: async () => {} };
        },
      },
    );
    const control = new AbortController();
    const scope = await backend.open('s', fakeCall({ signal: control.signal }));
    const writing = scope.write(facts).catch((error: Error) => error.message);
    await later();
    await scope.dispose();
    expect(await writing).toContain('disposed');
    expect(signals.map(({ aborted }) => aborted)).toEqual([givesUpWrites]);
    // The store's own listener is on the run's signal where it was given that one.
    expect(getEventListeners(control.signal, 'abort').length).toBe(givesUpWrites ? 0 : 1);
  });

  it('refuses to call a scope cleared that still holds something, however often it is asked', async () => {
    const { backend } = service({ clear: async () => {} });
    const scope = await backend.open('s', fakeCall());
    await scope.write(facts);
    for (let i = 0; i < 2; i++) {
      await expect(scope.dispose()).rejects.toMatchObject({
        code: 'memory_not_cleared',
        message: 'memory "fake_service" still holds 2 items of a scope that was cleared',
      });
    }
    await expect(scope.list()).rejects.toThrow('disposed');
  });

  it('cleans up after a run that was given up', async () => {
    const { backend, kept } = service();
    const control = new AbortController();
    const scope = await backend.open('s', fakeCall({ signal: control.signal }));
    await scope.write(facts);
    control.abort(new Error('stop'));
    await expect(scope.list()).rejects.toThrow('stop');
    await scope.dispose();
    expect(kept.size).toBe(0);
  });

  it("hands on the service's own tools, until it is disposed of", async () => {
    const spec = { name: 'view', description: 'shows notes', inputSchema: {} };
    const tools = [{ spec, run: async () => ({ content: 'a note' }) }];
    const scope = await service({ tools }).backend.open('s', fakeCall());
    const [tool] = scope.tools ?? [];
    expect(tool?.spec).toBe(spec);
    expect(await tool?.run({})).toEqual({ content: 'a note' });
    await scope.dispose();
    await expect(tool?.run({})).rejects.toThrow('disposed');
    expect((await service().backend.open('s', fakeCall())).tools).toBeUndefined();
  });
});

describe('a service as a backend', () => {
  it('opens nothing once it is closed, or when the run is given up; closes once', async () => {
    let closed = 0;
    const { backend } = service({}, { close: async () => void closed++ });
    const reason = new Error('stop');
    await expect(backend.open('s', fakeCall({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    await backend.close();
    await backend.close();
    expect(closed).toBe(1);
    await expect(backend.open('s', fakeCall())).rejects.toMatchObject({ code: 'memory_closed' });
  });
});
