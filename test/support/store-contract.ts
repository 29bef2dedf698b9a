import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunStore } from '../../src/contracts/store.ts';
import { type RunStatus, recordSchema, type SampleRecord } from '../../src/schema/record.ts';
import { fakeDone, fakeFailed } from './fake-records.ts';

export interface StoreUnderTest {
  store: RunStore;
  /** What was last written as the status of an experiment. */
  status(experiment: string): Promise<RunStatus | undefined>;
  remove(): Promise<void>;
}

async function all(store: RunStore, experiment: string): Promise<SampleRecord[]> {
  const records: SampleRecord[] = [];
  for await (const record of store.records(experiment)) records.push(record);
  return records;
}

async function appendAll(store: RunStore, records: readonly SampleRecord[]): Promise<void> {
  for (const record of records) await store.append(record);
}

export function fakeStatus(overrides: Partial<RunStatus> = {}): RunStatus {
  return {
    version: 1,
    run_id: 'run-1',
    experiment: 'arm',
    state: 'running',
    planned: 3,
    done: 1,
    failed: 0,
    fingerprint: 'f'.repeat(64),
    started_at: '2025-01-01T00:00:00.000Z',
    updated_at: '2025-01-01T00:00:01.000Z',
    ...overrides,
  };
}

/** What every run store promises, wherever it keeps its records. Runs as one `describe` block. */
export function storeContract(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, () => {
    let under: StoreUnderTest;
    let store: RunStore;
    beforeEach(async () => {
      under = await make();
      store = under.store;
    });
    afterEach(async () => {
      await store.close();
      await under.remove();
    });

    const done = (id: string, experiment = 'arm') => fakeDone({ id, experiment, secrets: ['no'], fields: ['yes'] });
    const failed = (id: string, message = 'no answer') => fakeFailed({ id, experiment: 'arm', error: { message } });
    const keys = (...records: SampleRecord[]) => new Set(records.map(({ key }) => key));

    it('starts empty', async () => {
      expect(await store.finished('arm')).toEqual({ done: new Set(), failed: new Set() });
      expect(await all(store, 'arm')).toEqual([]);
    });

    it('gives back what was appended, whole and in order', async () => {
      const records = [done('a'), failed('b'), done('c')];
      await appendAll(store, records);
      const read = await all(store, 'arm');
      expect(read).toEqual(records);
      for (const record of read) recordSchema.parse(record);
    });

    it('keeps text of any script, with newlines and quotes', async () => {
      const message = 'Zoë said:\r\n"東京" \u2028 \u0000 \\ 👩‍👧 \n';
      await store.append(fakeDone({ id: 'a', message }));
      expect((await all(store, 'arm'))[0]?.reply?.message).toBe(message);
    });

    it('tells the done from the failed', async () => {
      await appendAll(store, [done('a'), failed('b'), done('c')]);
      expect(await store.finished('arm')).toEqual({ done: keys(done('a'), done('c')), failed: keys(failed('b')) });
    });

    it('counts a failed job that was tried again by its last attempt, once', async () => {
      await appendAll(store, [failed('a'), done('b'), done('a')]);
      expect(await store.finished('arm')).toEqual({ done: keys(done('a'), done('b')), failed: new Set() });
      expect(await all(store, 'arm')).toEqual([done('b'), done('a')]);
    });

    it('counts a job that failed twice by its last failure, once', async () => {
      await appendAll(store, [failed('a', 'first'), done('b'), failed('a', 'second')]);
      expect(await store.finished('arm')).toEqual({ done: keys(done('b')), failed: keys(failed('a')) });
      expect(await all(store, 'arm')).toEqual([done('b'), failed('a', 'second')]);
    });

    it.each([
      ['done', done('a')],
      ['failed', failed('a')],
    ])('refuses to go on from a job that is done and then %s', async (_, second) => {
      await appendAll(store, [done('a'), done('b'), second]);
      await expect(store.finished('arm')).rejects.toMatchObject({
        code: 'records_foreign_line',
        found: `a second record of job ${second.key}`,
        where: { line: 3 },
      });
    });

    it('keeps experiments apart', async () => {
      await appendAll(store, [done('a', 'one'), done('b', 'two')]);
      expect(await all(store, 'one')).toEqual([done('a', 'one')]);
      expect(await all(store, 'two')).toEqual([done('b', 'two')]);
      expect(await store.finished('three')).toEqual({ done: new Set(), failed: new Set() });
    });

    it('takes many appends at once, each whole, in order', async () => {
      const record = (_: unknown, i: number) => fakeDone({ id: `sample ${i}`, message: 'x'.repeat(i * 40) });
      const records = Array.from({ length: 200 }, record);
      await Promise.all(records.map((one) => store.append(one)));
      const read = await all(store, 'arm');
      expect(read.length).toBe(200);
      expect(read).toEqual(records);
    });

    it('does not change a record that was appended when its owner does', async () => {
      const record = done('a');
      await store.append(record);
      record.usage.agent.calls = 99;
      expect((await all(store, 'arm'))[0]?.usage.agent.calls).toBe(0);
    });

    it('leaves out what is appended after reading began', async () => {
      await appendAll(store, [failed('a'), done('b')]);
      const seen: SampleRecord[] = [];
      for await (const record of store.records('arm')) {
        seen.push(record);
        if (seen.length === 1) await appendAll(store, [done('c'), done('a')]);
      }
      expect(seen).toEqual([failed('a'), done('b')]);
      expect(await all(store, 'arm')).toEqual([done('b'), done('c'), done('a')]);
    });

    it('replaces a status whole, and keeps those of experiments apart', async () => {
      await store.writeStatus(fakeStatus({ state: 'stopped', stop_reason: 'budget', stop_message: 'spent' }));
      await store.writeStatus(fakeStatus({ done: 3, state: 'done' }));
      await store.writeStatus(fakeStatus({ experiment: 'other', planned: 7 }));
      expect(await under.status('arm')).toEqual(fakeStatus({ done: 3, state: 'done' }));
      expect((await under.status('other'))?.planned).toBe(7);
    });
  });
}
