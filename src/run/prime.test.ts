import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/fake-call.ts';
import { fakeCapabilities, fakeSample, fakeScope } from '../../test/support/fake-parts.ts';
import type { MemoryCapabilities, MemoryScope } from '../contracts/memory.ts';
import { prime } from './prime.ts';

const { facts } = fakeSample('s0');
const items = facts.map(({ id, text }) => ({ text, fact_ids: [id] }));

function bench(capabilities: Partial<MemoryCapabilities> = {}) {
  const clock = manualClock();
  const control = new AbortController();
  const options = {
    capabilities: fakeCapabilities(capabilities),
    readyTimeoutS: 5,
    clock,
    signal: control.signal,
  };
  return { clock, control, options };
}

const kept = (stored: unknown): Partial<MemoryScope> => ({
  list: async () => stored as Awaited<ReturnType<MemoryScope['list']>>,
});
/** As backends do: waits for a signal that may abort, and tells what it was told. */
const waits: MemoryScope['ready'] = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('prime', () => {
  it('writes, waits, and reads back, in this order', async () => {
    const steps: string[] = [];
    const scope = fakeScope();
    const watched = fakeScope({
      write: async (written) => {
        steps.push(`write ${written.length}`);
        await scope.write(written);
      },
      ready: async () => void steps.push('ready'),
      list: () => {
        steps.push('list');
        return scope.list();
      },
    });
    expect(await prime(watched, facts, bench().options)).toEqual(items);
    expect(steps).toEqual(['write 2', 'ready', 'list']);
  });

  it('fails when the memory is not readable in time, and tells the backend to give up', async () => {
    const { clock, options, control } = bench();
    let told: unknown;
    const scope = fakeScope({
      ready: (signal) => {
        signal.addEventListener('abort', () => {
          told = signal.reason;
        });
        return waits(signal);
      },
    });
    const priming = prime(scope, facts, options);
    const failed = expect(priming).rejects.toMatchObject({
      code: 'memory_not_ready',
      message: 'the memory was not readable 5 s after writing',
    });
    await clock.advance(4999);
    expect(told).toBeUndefined();
    await clock.advance(1);
    await failed;
    expect(told).toMatchObject({ code: 'memory_not_ready' });
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
  });

  it('fails in time also when the backend does not listen', async () => {
    const { clock, options } = bench();
    const priming = prime(fakeScope({ ready: () => new Promise(() => {}) }), facts, options);
    const failed = expect(priming).rejects.toMatchObject({ code: 'memory_not_ready' });
    await clock.advance(5000);
    await failed;
  });

  it('takes a memory that is readable just in time, and leaves no timer and no listener', async () => {
    const { clock, options, control } = bench();
    const scope = fakeScope({ ready: (signal) => clock.sleep(4999, signal) });
    const priming = prime(scope, facts, options);
    await clock.advance(4999);
    expect(await priming).toEqual(items);
    expect(clock.sleepers).toBe(0);
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
  });

  it.each([
    ['that listens', waits],
    ['that does not', () => new Promise<void>(() => {})],
  ])('gives up with the signal, with a backend %s', async (_, ready) => {
    const { clock, options, control } = bench();
    const reason = new Error('stop');
    const given = expect(prime(fakeScope({ ready }), facts, options)).rejects.toBe(reason);
    await clock.advance(1);
    control.abort(reason);
    await given;
    expect(clock.sleepers).toBe(0);
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
  });

  it('passes on what the backend fails with, and leaves no timer and no listener', async () => {
    const { clock, options, control } = bench();
    const error = new Error('503');
    const ready = async () => {
      throw error;
    };
    await expect(prime(fakeScope({ ready }), facts, options)).rejects.toBe(error);
    expect(clock.sleepers).toBe(0);
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
  });

  it.each([
    ['is gone', items.slice(1), 1],
    ['came back with another text', [{ text: 'Name: somebody', fact_ids: ['f0'] }, items[1]], 1],
    ['came back without its source', [{ text: facts[0]?.text, fact_ids: [] }, items[1]], 1],
    ['is gone, as are all', [], 2],
  ])('fails when a fact %s', async (_, stored, lost) => {
    await expect(prime(fakeScope(kept(stored)), facts, bench().options)).rejects.toMatchObject({
      code: 'memory_lost_facts',
      message: `the memory did not keep ${lost} of 2 facts`,
      found: expect.stringContaining(`${stored.length} stored items; missing: Name`) as string,
    });
  });

  it('fails when the memory holds a fact twice, as after a write that was sent again: it takes two of the k places', async () => {
    const twice = [...items, items[0]];
    await expect(prime(fakeScope(kept(twice)), facts, bench().options)).rejects.toMatchObject({
      code: 'memory_extra_items',
      message: 'the memory holds 3 items where 2 facts were written',
    });
    expect(await prime(fakeScope(kept(twice)), facts, bench({ rewrites: true }).options)).toEqual(twice);
  });

  it('does not ask for sources where the backend keeps none', async () => {
    const bare = items.map(({ text }) => ({ text, fact_ids: [] }));
    expect(await prime(fakeScope(kept(bare)), facts, bench({ provenance: false }).options)).toEqual(bare);
  });

  it('takes what it gets from a backend that keeps nothing by design', async () => {
    expect(await prime(fakeScope(kept([])), facts, bench({ stores: false }).options)).toEqual([]);
  });

  it('takes what it gets from a backend that rewrites', async () => {
    const rewritten = [{ text: 'They are in room 12.', fact_ids: [] }];
    expect(await prime(fakeScope(kept(rewritten)), facts, bench({ rewrites: true }).options)).toEqual(rewritten);
  });

  it('takes a sample without facts', async () => {
    expect(await prime(fakeScope(), [], bench().options)).toEqual([]);
  });
});
