import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/fake-call.ts';
import { Limiter, type Slot } from './limiter.ts';

const forever = new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

function limiterOf(max: number) {
  const clock = manualClock();
  return { clock, limiter: new Limiter({ max, clock }) };
}

describe('Limiter', () => {
  it('hands out slots up to its limit and queues the rest, first come, first served', async () => {
    const { limiter } = limiterOf(2);
    const order: number[] = [];
    const slots: Slot[] = [];
    for (let i = 0; i < 5; i++) {
      void limiter.acquire(forever).then((slot) => {
        order.push(i);
        slots.push(slot);
      });
    }
    await tick();
    expect([order, limiter.running, limiter.waiting]).toEqual([[0, 1], 2, 3]);
    slots[1]?.release('answered');
    await tick();
    slots[0]?.release('failed');
    await tick();
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('gives a slot back once, however often it is released', async () => {
    const { limiter } = limiterOf(1);
    const slot = await limiter.acquire(forever);
    slot.release('answered');
    slot.release('answered');
    expect(limiter.running).toBe(0);
  });

  it('halves when a full load is refused, and grows back one slot for sixteen answers', async () => {
    const { limiter } = limiterOf(64);
    const full = await Promise.all(Array.from({ length: 64 }, () => limiter.acquire(forever)));
    for (const slot of full) slot.release('refused');
    expect(limiter.limit).toBe(32);
    for (let i = 0; i < 15; i++) (await limiter.acquire(forever)).release('answered');
    expect(limiter.limit).toBe(32);
    (await limiter.acquire(forever)).release('answered');
    expect(limiter.limit).toBe(33);
    for (let i = 0; i < 16 * 40; i++) (await limiter.acquire(forever)).release('answered');
    expect(limiter.limit).toBe(64);
  });

  it('never falls below one, and other failures do not shrink it', async () => {
    const { limiter } = limiterOf(3);
    for (let i = 0; i < 20; i++) (await limiter.acquire(forever)).release('refused');
    expect(limiter.limit).toBe(1);
    const other = limiterOf(3).limiter;
    for (let i = 0; i < 20; i++) (await other.acquire(forever)).release('failed');
    expect(other.limit).toBe(3);
  });

  it('holds its ground where one request in ten is refused', async () => {
    const { limiter } = limiterOf(64);
    for (let i = 0; i < 2000; i++) (await limiter.acquire(forever)).release(i % 10 === 0 ? 'refused' : 'answered');
    expect(limiter.limit).toBeGreaterThanOrEqual(63);
  });

  it('pauses everybody after three refusals in a row until Retry-After is over', async () => {
    const { limiter, clock } = limiterOf(8);
    for (let i = 0; i < 2; i++) (await limiter.acquire(forever)).release('refused', 5000);
    (await limiter.acquire(forever)).release('refused', 5000);
    let started = false;
    void limiter.acquire(forever).then(() => {
      started = true;
    });
    await clock.advance(4999);
    await tick();
    expect(started).toBe(false);
    await clock.advance(1);
    await tick();
    expect(started).toBe(true);
  });

  it('does not pause for refusals with answers in between', async () => {
    const { limiter, clock } = limiterOf(8);
    for (let i = 0; i < 10; i++) {
      (await limiter.acquire(forever)).release('refused', 5000);
      (await limiter.acquire(forever)).release('answered');
    }
    expect(clock.sleepers).toBe(0);
  });

  it('pauses for a minute at most', async () => {
    const { limiter, clock } = limiterOf(8);
    for (let i = 0; i < 3; i++) (await limiter.acquire(forever)).release('refused', 3_600_000);
    const next = limiter.acquire(forever);
    await clock.advance(60_000);
    await expect(next).resolves.toBeDefined();
  });

  it('lets a waiter go when its signal aborts, with the reason, and keeps no timer for nobody', async () => {
    const { limiter, clock } = limiterOf(1);
    for (let i = 0; i < 3; i++) (await limiter.acquire(forever)).release('refused', 5000);
    const controller = new AbortController();
    const waiting = limiter.acquire(controller.signal).catch((error: unknown) => error);
    await tick();
    expect([limiter.waiting, clock.sleepers]).toEqual([1, 1]);
    controller.abort('enough');
    expect(await waiting).toBe('enough');
    expect([limiter.waiting, limiter.running, clock.sleepers]).toEqual([0, 0, 0]);
    await expect(limiter.acquire(controller.signal)).rejects.toBe('enough');
  });

  it('takes the lowest of several upper bounds', async () => {
    const { limiter } = limiterOf(8);
    limiter.restrict(3);
    limiter.restrict(5);
    expect(limiter.limit).toBe(3);
  });

  it('keeps its promises under any sequence of starts, ends and aborts', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ kind: 'start' as const }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('end' as const),
          of: fc.nat(),
          outcome: fc.constantFrom('answered' as const, 'refused' as const, 'failed' as const),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), of: fc.nat() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80 }), async (max, steps) => {
        const { limiter } = limiterOf(max);
        const started: number[] = [];
        const open: Slot[] = [];
        const callers: { controller: AbortController; state: 'waiting' | 'started' | 'aborted' }[] = [];
        for (const one of steps) {
          if (one.kind === 'start') {
            const id = callers.length;
            const caller: (typeof callers)[number] = { controller: new AbortController(), state: 'waiting' };
            callers.push(caller);
            limiter.acquire(caller.controller.signal).then(
              (slot) => {
                caller.state = 'started';
                started.push(id);
                open.push(slot);
              },
              () => {
                caller.state = 'aborted';
              },
            );
          } else if (one.kind === 'end') {
            open.splice(one.of % Math.max(1, open.length), 1)[0]?.release(one.outcome);
          } else {
            callers[one.of % Math.max(1, callers.length)]?.controller.abort('gone');
          }
          await tick();
          // A shrunk limit may be below what already runs, but nothing starts above it.
          expect(limiter.running).toBeLessThanOrEqual(max);
          expect(limiter.running).toBe(open.length);
          const waiting = callers.filter(({ state }) => state === 'waiting').length;
          expect(limiter.waiting).toBe(waiting);
          if (waiting > 0) expect(limiter.running).toBeGreaterThanOrEqual(limiter.limit);
        }
        expect(started).toEqual([...started].sort((a, b) => a - b));
        // Everybody who still waits gets a turn.
        while (open.length > 0) {
          open.shift()?.release('answered');
          await tick();
        }
        expect(callers.some(({ state }) => state === 'waiting')).toBe(false);
      }),
      { numRuns: 150 },
    );
  });
});
