import { describe, expect, it } from 'vitest';
import { fakeCall, manualClock } from '../../test/support/fake-call.ts';
import { ModelError, type ModelErrorKind } from '../contracts/model.ts';
import { withRetry } from './with-retry.ts';

const failure = (kind: ModelErrorKind, retryAfterMs?: number) =>
  new ModelError(kind, `it was ${kind}`, { modelId: 'p:m', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

/** A call that fails with each error in turn and then answers. */
function failing(...errors: unknown[]) {
  let attempts = 0;
  const call = async () => {
    const error = errors[attempts++];
    if (error !== undefined) throw error;
    return 'answer';
  };
  return { call, attempts: () => attempts };
}

/** Runs a promise to its end on a clock that jumps from sleep to sleep; gives the waits back. */
async function waitsOf(
  errors: unknown[],
  options: { random?: () => number; maxAttempts?: number; maxWaitMs?: number } = {},
) {
  const waits: number[] = [];
  const clock = { ...manualClock(), sleep: async (ms: number) => void waits.push(ms) };
  const target = failing(...errors);
  const call = fakeCall();
  const retried = withRetry(target.call, { clock, random: () => 0.5, ...options });
  const outcome = await retried('request', call).catch((error: unknown) => error);
  return { outcome, waits, attempts: target.attempts(), retries: call.spent.agent.retries };
}

describe('withRetry', () => {
  it('backs off exponentially with full jitter and counts its retries', async () => {
    const done = await waitsOf([failure('server'), failure('network'), failure('timeout'), failure('bad_response')]);
    expect(done).toEqual({ outcome: 'answer', waits: [250, 500, 1000, 2000], attempts: 5, retries: 4 });
  });

  it('takes the whole range of the jitter', async () => {
    expect((await waitsOf([failure('server')], { random: () => 0 })).waits).toEqual([0]);
    expect((await waitsOf([failure('server')], { random: () => 0.999 })).waits).toEqual([499.5]);
  });

  it('never comes back before Retry-After is over', async () => {
    expect((await waitsOf([failure('rate_limit', 7000)], { random: () => 0 })).waits).toEqual([7000]);
    expect((await waitsOf([failure('server', 7000)])).waits).toEqual([7250]);
  });

  it.each(['auth', 'quota', 'not_found', 'bad_request'] as const)('fails at once on %s', async (kind) => {
    const error = failure(kind);
    expect(await waitsOf([error])).toEqual({ outcome: error, waits: [], attempts: 1, retries: 0 });
  });

  it('lets anything but a ModelError through', async () => {
    const error = new TypeError('a defect');
    expect((await waitsOf([error])).outcome).toBe(error);
  });

  it('gives up after its attempts and says so', async () => {
    const { outcome, attempts } = await waitsOf(Array.from({ length: 9 }, () => failure('server')));
    expect(attempts).toBe(6);
    expect(outcome).toMatchObject({ kind: 'server', modelId: 'p:m' });
    expect((outcome as ModelError).message).toBe('it was server (given up after 6 attempts and 8 s of waiting)');
  });

  it('does not count a 429 as a failed attempt', async () => {
    const errors = Array.from({ length: 20 }, () => failure('rate_limit', 1000));
    expect(await waitsOf(errors)).toMatchObject({ outcome: 'answer', attempts: 21, retries: 20 });
  });

  it('does not wait beyond its total, and not at all for a wait that would', async () => {
    const { outcome, waits } = await waitsOf(
      Array.from({ length: 9 }, () => failure('rate_limit', 100_000)),
      { random: () => 0 },
    );
    expect(waits).toEqual([100_000, 100_000, 100_000]);
    expect((outcome as ModelError).message).toContain('the server asks to wait 100 s more');
    expect((await waitsOf([failure('rate_limit', 3_600_000)])).waits).toEqual([]);
  });

  it('stops waiting when the run is aborted, with the reason', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const target = failing(failure('server'));
    const retried = withRetry(target.call, { clock, random: () => 0.5 });
    const outcome = retried('request', fakeCall({ signal: controller.signal })).catch((error: unknown) => error);
    await clock.advance(1);
    controller.abort('stopped by hand');
    expect(await outcome).toBe('stopped by hand');
    expect([target.attempts(), clock.sleepers]).toEqual([1, 0]);
  });
});
