import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeJob, fakeParts, fakeReply, fakeSample } from '../../test/support/fake-parts.ts';
import {
  DEADLINE_S,
  hastyClock,
  KEY,
  make,
  mem0System,
  supermemorySystem,
  systems,
  zepSystem,
} from '../../test/support/hosted-systems.ts';
import type { LoopbackService, ServiceFaults, ServiceRequest } from '../../test/support/loopback-service.ts';
import { pool } from '../../test/support/memory-contract.ts';
import type { Clock } from '../contracts/call.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import { systemClock } from '../lib/clock.ts';
import { runSample } from '../run/run-sample.ts';
import type { FailedRecord, SampleRecord } from '../schema/record.ts';

describe.each(systems)('$plugin.name', (system) => {
  const { plugin, variable, start } = system;

  async function withService<T>(faults: ServiceFaults, work: (service: LoopbackService) => Promise<T>): Promise<T> {
    const service = await start({ apiKey: KEY, faults });
    try {
      return await work(service);
    } finally {
      await service.close();
    }
  }

  /** The record of one sample whose agent searches its memory once. */
  function record(
    memory: MemoryBackend,
    { clock, readyTimeoutS = 60 }: { clock?: Clock; readyTimeoutS?: number } = {},
  ) {
    const agent = fakeAgent({
      respond: async (_task, { scope, topK }) =>
        fakeReply({ recalls: [await scope.search('book the ocean view suite', topK)] }),
    });
    const parts = fakeParts({ memory, agent, clock: clock ?? systemClock, readyTimeoutS, memoryTimeoutS: DEADLINE_S });
    const sample = fakeSample('s', { facts: [...pool.slice(0, 4)] });
    return runSample(fakeJob({ sample, key: 'abcdef0123456789' }), parts, new AbortController().signal);
  }

  const failed = (one: SampleRecord): FailedRecord['error'] => {
    if (one.status !== 'failed') throw new Error(`the sample is ${one.status}`);
    return one.error;
  };

  it('runs a sample: stored, recalled with k as asked, paid for, and nothing left behind', async () => {
    await withService({ looksUntilDone: 3 }, async (service) => {
      const done = await record(await make({ system, service, file: { top_k: 2 } }));
      expect(done.status === 'failed' ? done.error : done.status).toBe('done');
      expect(done.stored?.map(({ fact_ids: ids }) => ids)).toEqual([['f0'], ['f1'], ['f2'], ['f3']]);
      const [recall] = done.reply?.recalls ?? [];
      expect(recall?.requested_k).toBe(2);
      expect(recall?.items.map(({ fact_ids: ids }) => ids)[0]).toEqual(['f2']);
      expect(recall?.items.length).toBe(2);
      expect(recall?.raw).toBeDefined();
      // Four writes and a search, at a price that only the service knows.
      expect(done.usage.prime).toMatchObject({ calls: 5, unpriced_calls: 5, retries: 0 });
      const again = await (await make({ system, service })).open('abcdef0123456789', fakeCall());
      expect(await again.list()).toEqual([]);
    });
  });

  it('names a memory that is not ready in time, and gives nothing that looks private', async () => {
    await withService({ looksUntilDone: Number.POSITIVE_INFINITY }, async (service) => {
      const memory = await make({ system, service, clock: systemClock, file: { poll_interval_s: 0.01 } });
      const late = await record(memory, { readyTimeoutS: 0.2 });
      expect(failed(late)).toMatchObject({ stage: 'prime', code: 'memory_not_ready' });
      expect(late.stored).toBeUndefined();
      expect(late.reply).toBeUndefined();
    });
  });

  it('names what could not be processed', async () => {
    await withService({ fails: pool[1]?.text ?? '' }, async (service) => {
      // Zep does not say that an episode failed: it is never processed.
      const silent = plugin.name === 'zep';
      const memory = await make({ system, service, clock: systemClock, file: { poll_interval_s: 0.01 } });
      const code = silent ? 'memory_not_ready' : 'memory_index_failed';
      const readyTimeoutS = silent ? 0.2 : 60;
      expect(failed(await record(memory, { readyTimeoutS }))).toMatchObject({ stage: 'prime', code });
    });
  });

  it('waits as long as a 429 asks for, and goes on', async () => {
    const slept: number[] = [];
    const busy: ServiceFaults = {
      refuse: (_request, n) => (n === 1 ? { status: 429, headers: { 'retry-after': '7' }, body: {} } : undefined),
    };
    await withService(busy, async (service) => {
      const done = await record(await make({ system, service, clock: hastyClock(slept) }));
      expect(done.status).toBe('done');
      expect(slept).toContain(7000);
      expect(done.usage.prime.retries).toBe(1);
    });
  });

  it('gives up on a server that stays broken, and says so', async () => {
    const broken: ServiceFaults = { refuse: () => ({ status: 500, body: { message: 'out of order' } }) };
    await withService(broken, async (service) => {
      const error = failed(await record(await make({ system, service })));
      expect(error).toMatchObject({ stage: 'memory', code: 'memory_unavailable' });
      expect(error.message).toContain('HTTP 500 (attempt 5)');
      expect(service.requests.length).toBe(5);
    });
  });

  it('sends no fact again that the server may have taken: twice in the memory, it would take two of the k places', async () => {
    const isFact = ({ body }: ServiceRequest) => JSON.stringify(body ?? '').includes(pool[0]?.text ?? '');
    const torn: ServiceFaults = {
      refuse: (request) => (isFact(request) ? { status: 502, body: { message: 'bad gateway' } } : undefined),
    };
    await withService(torn, async (service) => {
      const error = failed(await record(await make({ system, service })));
      expect(error).toMatchObject({ stage: 'prime', code: 'memory_unavailable' });
      expect(service.requests.filter(isFact).length).toBe(1);
    });
  });

  it('stops at a refused key, names its variable and never the key', async () => {
    await withService({}, async (service) => {
      const wrong = 'm0-wrong-key-0987654321';
      const one = await record(await make({ system, service, key: wrong }));
      expect(failed(one)).toMatchObject({ stage: 'memory', code: 'memory_auth' });
      expect(failed(one).message).toContain(variable);
      expect(JSON.stringify(one)).not.toContain(wrong);
      expect(service.requests.length).toBe(1);
    });
  });

  it('names an absent key before anything is asked', async () => {
    await withService({}, async (service) => {
      await expect(make({ system, service, key: ' ' })).rejects.toMatchObject({ code: 'missing_variable' });
      expect(service.requests).toEqual([]);
    });
  });

  it('counts a deletion that deleted nothing as a failure', async () => {
    await withService({ keepsAll: true }, async (service) => {
      expect(failed(await record(await make({ system, service })))).toMatchObject({
        stage: 'dispose',
        code: 'memory_not_cleared',
      });
    });
  });

  it("refuses another user's item among the hits", async () => {
    await withService({ leaks: true }, async (service) => {
      const memory = await make({ system, service });
      const other = await memory.open('other', fakeCall());
      await other.write([{ id: 'f0', key: 'Secret', text: 'Secret: the ocean view suite of somebody else' }]);
      await other.ready(new AbortController().signal);
      const one = await record(memory);
      expect(failed(one)).toMatchObject({ stage: 'agent', code: 'memory_foreign_item' });
      expect(one.reply).toBeUndefined();
    });
  });

  it('clears what an earlier run left under the same scope', async () => {
    await withService({}, async (service) => {
      const memory = await make({ system, service });
      const killed = await memory.open('same', fakeCall());
      await killed.write(pool);
      await killed.ready(new AbortController().signal);
      const resumed = await memory.open('same', fakeCall());
      expect(await resumed.list()).toEqual([]);
      await resumed.dispose();
    });
  });

  it('keeps many scopes apart that are open at once', async () => {
    await withService({ looksUntilDone: 1 }, async (service) => {
      const memory = await make({ system, service });
      const scopes = await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const scope = await memory.open(`many-${i}`, fakeCall());
          await scope.write([{ id: 'f0', key: 'Room', text: `Room: ${i}` }]);
          await scope.ready(new AbortController().signal);
          return scope;
        }),
      );
      const found = await Promise.all(scopes.map((scope) => scope.search('room', 5)));
      expect(found.map(({ items }) => items.map(({ text }) => text))).toEqual(scopes.map((_, i) => [`Room: ${i}`]));
      await Promise.all(scopes.map((scope) => scope.dispose()));
    });
  });

  it('cleans up after a run that was stopped', async () => {
    await withService({}, async (service) => {
      const memory = await make({ system, service });
      const control = new AbortController();
      const scope = await memory.open('stopped', fakeCall({ signal: control.signal }));
      await scope.write(pool);
      await scope.ready(control.signal);
      control.abort(new Error('stop'));
      await expect(scope.search('room', 1)).rejects.toThrow('stop');
      await scope.dispose();
      expect(await (await memory.open('stopped', fakeCall())).list()).toEqual([]);
    });
  });

  it('needs its package, its key and its server, and leaves none of them in its identity', () => {
    const file = { backend: plugin.name, base_url: 'http://127.0.0.1:1', api_key_env: 'OTHER', max_concurrency: 2 };
    const options = plugin.schema.parse(file);
    const needs = plugin.requires?.(options) ?? [];
    expect(needs.map(({ kind }) => kind)).toEqual(['package', 'variable', 'server']);
    expect(needs[1]).toMatchObject({ name: 'OTHER', path: ['api_key_env'] });
    expect(needs[2]).toMatchObject({ url: 'http://127.0.0.1:1' });
    expect(plugin.identity?.(options)).toEqual(plugin.identity?.(plugin.schema.parse({ backend: plugin.name })));
    expect(JSON.stringify(plugin.identity?.(options))).not.toMatch(/127\.0\.0\.1|OTHER/);
  });
});

describe('a dropped write', () => {
  const drops = pool[1]?.text ?? '';
  it.each([
    { system: mem0System, file: { infer: false }, code: 'memory_lost_facts' },
    { system: zepSystem, file: { scope: 'episodes' }, code: 'memory_not_ready' },
    { system: supermemorySystem, file: {}, code: 'memory_not_ready' },
  ])('fails the sample ($system.plugin.name: $code)', async ({ system, file, code }) => {
    const service = await system.start({ apiKey: KEY, faults: { drops } });
    const memory = await make({ system, service, clock: systemClock, file: { ...file, poll_interval_s: 0.01 } });
    const readyTimeoutS = code === 'memory_not_ready' ? 0.2 : 60;
    const sample = fakeSample('s', { facts: [...pool.slice(0, 3)] });
    const parts = fakeParts({ memory, clock: systemClock, readyTimeoutS, memoryTimeoutS: DEADLINE_S });
    const one = await runSample(fakeJob({ sample }), parts, new AbortController().signal);
    expect(one.status === 'failed' && one.error.code).toBe(code);
    expect(one.reply).toBeUndefined();
    await service.close();
  });
});
