import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortable } from './abortable.ts';

describe('abortable', () => {
  const never = new Promise<never>(() => {});
  const reason = new Error('stop');

  it('gives what the promise gives', async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve(1), signal)).toBe(1);
    await expect(abortable(Promise.reject(reason), signal)).rejects.toBe(reason);
  });

  it('rejects when the signal aborts, before or after', async () => {
    await expect(abortable(Promise.resolve(1), AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(abortable(Promise.reject(new Error('late')), AbortSignal.abort(reason))).rejects.toBe(reason);
    const control = new AbortController();
    const waiting = abortable(never, control.signal);
    control.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it('leaves no listener behind, and lets many wait without a warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 50 }, (_, i) => abortable(Promise.resolve(i), signal)));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
