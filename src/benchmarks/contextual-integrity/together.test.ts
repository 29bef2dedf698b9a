import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { BudgetError } from '../../contracts/model.ts';
import { together } from './together.ts';

/** Ends only when its signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('together', () => {
  it('starts all at once and gives the results in order', async () => {
    let running = 0;
    let most = 0;
    const task = (value: string) => async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return value;
    };
    expect(await together([task('a'), task('b'), task('c')], new AbortController().signal)).toEqual(['a', 'b', 'c']);
    expect(most).toBe(3);
  });

  it('calls the others off when one throws, waits for them, and throws the first error', async () => {
    const outer = new AbortController();
    const ended: unknown[] = [];
    const other = async (signal: AbortSignal) => {
      await untilAborted(signal).catch(async (reason) => {
        await Promise.resolve();
        ended.push(reason);
        throw new Error('a later error');
      });
    };
    const first = new Error('first');
    const failing = async () => {
      throw first;
    };
    await expect(together<unknown>([other, failing, other], outer.signal)).rejects.toBe(first);
    expect(ended).toEqual([first, first]);
    expect(outer.signal.aborted).toBe(false);
  });

  it('passes an abort from outside on, with its reason', async () => {
    const outer = new AbortController();
    const running = together([untilAborted], outer.signal);
    const reason = new Error('stopped');
    outer.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('starts nothing after an abort', async () => {
    let started = false;
    const task = async () => {
      started = true;
    };
    await expect(together([task], AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(started).toBe(false);
  });

  it('leaves no listener behind', async () => {
    const outer = new AbortController();
    await together([async () => 1], outer.signal);
    await together([() => Promise.reject(new Error('no'))], outer.signal).catch(() => undefined);
    expect(getEventListeners(outer.signal, 'abort')).toHaveLength(0);
  });
});

describe('together, when the budget is spent', () => {
  it('lets what is under way finish, and then tells', async () => {
    let finished = 0;
    const paid = async (signal: AbortSignal) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      signal.throwIfAborted();
      finished += 1;
    };
    const spent = new BudgetError('the budget is used up');
    const late = () => Promise.reject(spent);
    await expect(together([paid, late, paid], new AbortController().signal)).rejects.toBe(spent);
    expect(finished).toBe(2);
  });
});
