import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeCapabilities } from '../../test/support/fake-parts.ts';
import { scopeSlots } from './scope-slots.ts';

const slotsOf = (max_concurrency?: number) =>
  scopeSlots({ capabilities: fakeCapabilities(max_concurrency === undefined ? {} : { max_concurrency }) });
const signal = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that begins when it may, and ends when it is told to. */
function job() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const self = {
    began: false,
    end,
    work: () => {
      self.began = true;
      return ended;
    },
  };
  return self;
}

describe('scopeSlots', () => {
  it('lets everybody in where there is no limit', async () => {
    const withSlot = slotsOf();
    const jobs = Array.from({ length: 100 }, job);
    const all = jobs.map(({ work }) => withSlot(signal, work));
    await turn();
    expect(jobs.every(({ began }) => began)).toBe(true);
    for (const { end } of jobs) end();
    await Promise.all(all);
  });

  it('serves whoever waits in turn, and gives back what the work gives', async () => {
    const withSlot = slotsOf(1);
    const order: number[] = [];
    const results = [0, 1, 2, 3].map((n) =>
      withSlot(signal, async () => {
        await turn();
        order.push(n);
        return n * 10;
      }),
    );
    expect(await Promise.all(results)).toEqual([0, 10, 20, 30]);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('gives the place on when the work fails, at once or later', async () => {
    const withSlot = slotsOf(1);
    const throwing = () => {
      throw new Error('at once');
    };
    await expect(withSlot(signal, throwing)).rejects.toThrow('at once');
    await expect(withSlot(signal, () => Promise.reject(new Error('later')))).rejects.toThrow('later');
    expect(await withSlot(signal, async () => 'free')).toBe('free');
  });

  it('lets go of the one who gives up while waiting, and of the listener', async () => {
    const withSlot = slotsOf(1);
    const [first, gone, last] = [job(), job(), job()];
    const control = new AbortController();
    const reason = new Error('stop');
    const a = withSlot(signal, first.work);
    const b = expect(withSlot(control.signal, gone.work)).rejects.toBe(reason);
    const c = withSlot(signal, last.work);
    control.abort(reason);
    await b;
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
    first.end();
    last.end();
    await Promise.all([a, c]);
    expect(gone.began).toBe(false);
  });

  it('passes the place on when its turn comes in the moment of giving up', async () => {
    const withSlot = slotsOf(1);
    const control = new AbortController();
    const reason = new Error('stop');
    const first = job();
    const a = withSlot(signal, first.work);
    const b = expect(withSlot(control.signal, async () => 'b')).rejects.toBe(reason);
    // The abort is heard first, and the place is handed over before the one who gave up has left the row.
    control.abort(reason);
    first.end();
    await a;
    await b;
    expect(await withSlot(signal, async () => 'free')).toBe('free');
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses a limit of %d, at which everybody would wait for ever', (limit) => {
    expect(() => slotsOf(limit)).toThrow(RangeError);
  });

  it('never has more open than the limit, is first come first served, and starves nobody', async () => {
    const event = fc.oneof(
      fc.record({ what: fc.constant('come' as const) }),
      fc.record({ what: fc.constant('end' as const), which: fc.nat(), fails: fc.boolean() }),
      fc.record({ what: fc.constant('abort' as const), which: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(event, { maxLength: 60 }), async (limit, events) => {
        const withSlot = slotsOf(limit);
        let open = 0;
        const began: number[] = [];
        const gone = new Set<number>();
        const ends = new Map<number, (fails: boolean) => void>();
        const waiting = new Map<number, AbortController>();
        const results: Promise<unknown>[] = [];
        const come = (n: number) => {
          const control = new AbortController();
          waiting.set(n, control);
          const work = async () => {
            waiting.delete(n);
            began.push(n);
            open += 1;
            expect(open).toBeLessThanOrEqual(limit);
            const fails = await new Promise<boolean>((resolve) => void ends.set(n, resolve));
            open -= 1;
            if (fails) throw new Error('fails');
          };
          results.push(withSlot(control.signal, work).catch(() => undefined));
        };
        const pick = <T>(map: Map<number, T>, which: number) => [...map][which % Math.max(1, map.size)];
        let count = 0;
        for (const one of events) {
          if (one.what === 'come') come(count++);
          else if (one.what === 'end') {
            const [n, end] = pick(ends, one.which) ?? [];
            if (n !== undefined) ends.delete(n);
            end?.(one.fails);
          } else {
            const [n, control] = pick(waiting, one.which) ?? [];
            if (n !== undefined) gone.add(n);
            if (n !== undefined) waiting.delete(n);
            control?.abort(new Error('stop'));
          }
          if (count % 3 === 0) await turn();
          // Nobody waits while a place is free.
          await turn();
          expect(open === limit || waiting.size === 0).toBe(true);
        }
        while (ends.size > 0) {
          for (const [n, end] of [...ends]) {
            ends.delete(n);
            end(false);
          }
          await turn();
        }
        await Promise.all(results);
        const all = Array.from({ length: count }, (_, n) => n).filter((n) => !gone.has(n));
        expect(began).toEqual(all);
        expect(open).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
