import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { fakeCall, manualClock } from '../../test/support/fake-call.ts';
import type { ModelCall } from './model-call.ts';
import { withDeadline } from './with-deadline.ts';

/** Never answers; fails with its signal's reason. */
const hanging: ModelCall<string, string> = (_request, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

const options = (clock = manualClock()) => ({ clock, timeoutMs: 2000, modelId: 'p:m' });

describe('withDeadline', () => {
  it('ends an attempt when its time is over', async () => {
    const clock = manualClock();
    const outcome = withDeadline(hanging, options(clock))('x', fakeCall()).catch((error: unknown) => error);
    await clock.advance(1999);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ kind: 'timeout', message: 'p:m: no answer within 2 s', retryable: true });
  });

  it("hands the run's abort on with its reason", async () => {
    const controller = new AbortController();
    const deadline = withDeadline(hanging, options());
    const outcome = deadline('x', fakeCall({ signal: controller.signal })).catch((error: unknown) => error);
    controller.abort('stopped by hand');
    expect(await outcome).toBe('stopped by hand');
    await expect(deadline('x', fakeCall({ signal: controller.signal }))).rejects.toBe('stopped by hand');
  });

  it('leaves neither a timer nor a listener behind', async () => {
    const clock = manualClock();
    const { signal } = new AbortController();
    const deadline = withDeadline(async (request: string) => request, options(clock));
    for (let i = 0; i < 50; i++) await deadline('x', fakeCall({ signal }));
    await Promise.all(Array.from({ length: 50 }, () => deadline('x', fakeCall({ signal }))));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(clock.sleepers).toBe(0);
  });

  it('gives each attempt its own time, with one sleep for all', async () => {
    const clock = manualClock();
    const deadline = withDeadline(hanging, options(clock));
    const ended: string[] = [];
    const start = (name: string) => void deadline(name, fakeCall()).catch(() => ended.push(name));
    start('first');
    await clock.advance(500);
    start('second');
    start('third');
    expect(clock.sleepers).toBe(1);
    await clock.advance(1500);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual(['first']);
    await clock.advance(499);
    expect(ended).toEqual(['first']);
    await clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect([ended, clock.sleepers]).toEqual([['first', 'second', 'third'], 0]);
  });
});
