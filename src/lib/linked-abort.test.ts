import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { linkedAbort } from './linked-abort.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('linkedAbort', () => {
  it('aborts with its parent, for the same reason', () => {
    const parent = new AbortController();
    const linked = linkedAbort(parent.signal);
    expect(linked.signal.aborted).toBe(false);
    const reason = new Error('stop');
    parent.abort(reason);
    expect(linked.signal.reason).toBe(reason);
    expect(listeners(parent.signal)).toBe(0);
  });

  it('is aborted from the start when its parent is', () => {
    const reason = new Error('stop');
    const parent = AbortSignal.abort(reason);
    const linked = linkedAbort(parent);
    expect(linked.signal.reason).toBe(reason);
    expect(listeners(parent)).toBe(0);
    linked.release();
  });

  it('aborts alone, and keeps its first reason', () => {
    const parent = new AbortController();
    const linked = linkedAbort(parent.signal);
    linked.abort('first');
    parent.abort('second');
    expect(linked.signal.reason).toBe('first');
    expect(parent.signal.reason).toBe('second');
  });

  it('leaves nothing on its parent once it is released, however often', () => {
    const parent = new AbortController();
    const linked = Array.from({ length: 5 }, () => linkedAbort(parent.signal));
    expect(listeners(parent.signal)).toBe(1);
    for (const { release } of [...linked, ...linked]) release();
    expect(listeners(parent.signal)).toBe(0);
    parent.abort();
    expect(linked.some(({ signal }) => signal.aborted)).toBe(false);
  });

  it('may have many links of its own, as a run has, without a warning', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const run = linkedAbort(new AbortController().signal);
    const calls = Array.from({ length: 50 }, () => linkedAbort(run.signal));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    run.abort('stop');
    expect(calls.every(({ signal }) => signal.reason === 'stop')).toBe(true);
  });
});
