import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/fake-call.ts';
import { onAbort, sleepOn } from './on-abort.ts';

describe('onAbort', () => {
  it('calls everybody once and not those who left, with one listener on the signal', () => {
    const controller = new AbortController();
    const called: number[] = [];
    const offs = [0, 1, 2].map((i) => onAbort(controller.signal, () => called.push(i)));
    offs[1]?.();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort();
    controller.abort();
    expect(called).toEqual([0, 2]);
  });
});

describe('sleepOn', () => {
  it('sleeps, or fails with the reason of the abort', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const slept = sleepOn(clock, 100, controller.signal);
    await clock.advance(100);
    await expect(slept).resolves.toBeUndefined();
    const broken = sleepOn(clock, 100, controller.signal).catch((error: unknown) => error);
    controller.abort('enough');
    expect(await broken).toBe('enough');
    await expect(sleepOn(clock, 100, controller.signal)).rejects.toBe('enough');
    expect(clock.sleepers).toBe(0);
  });
});
