import { expect, it } from 'vitest';
import { manualClock } from '../../test/support/fake-call.ts';
import { withinTime } from './within-time.ts';

const never = new AbortController().signal;
const late = () => new Error('too late');
const forever = () => new Promise<never>(() => {});

it('gives what comes in time, and leaves no timer behind', async () => {
  const clock = manualClock();
  expect(await withinTime(async () => 'answer', { seconds: 5, clock, signal: never, late })).toBe('answer');
  expect(clock.sleepers).toBe(0);
});

it('fails at the limit, and tells the work', async () => {
  const clock = manualClock();
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal) => {
    given = signal;
    return forever();
  };
  const failed = expect(withinTime(work, { seconds: 5, clock, signal: never, late })).rejects.toThrow('too late');
  await clock.advance(4999);
  expect(given?.aborted).toBe(false);
  await clock.advance(1);
  await failed;
  expect(given?.reason).toEqual(new Error('too late'));
});

it('is given up with the run, whatever the work does about it', async () => {
  const run = new AbortController();
  const clock = manualClock();
  const waiting = withinTime(forever, { seconds: 5, clock, signal: run.signal, late });
  run.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  expect(clock.sleepers).toBe(0);
});

it('fails with the work, also where the work throws at once', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  await expect(withinTime(broken, { seconds: 5, clock: manualClock(), signal: never, late })).rejects.toThrow('broken');
});
