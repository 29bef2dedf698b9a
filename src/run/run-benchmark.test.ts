import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeBenchmark, fakeMemory, fakeReply, fakeSample } from '../../test/support/fake-parts.ts';
import { BudgetError } from '../contracts/model.ts';
import { type RunStatus, recordSchema, runStatusSchema, type SampleRecord } from '../schema/record.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { type RunInput, type RunnableArm, runBenchmark } from './run-benchmark.ts';

/** Remembers every status that was written. */
class WatchedStore extends MemoryStore {
  readonly written: RunStatus[] = [];

  override async writeStatus(status: RunStatus): Promise<void> {
    this.written.push(runStatusSchema.parse(status));
    await super.writeStatus(status);
  }
}

function arm(name: string, overrides: Partial<RunnableArm> = {}): RunnableArm {
  const names = { agentName: 'fake', agentKind: 'fake_kind', memoryName: 'fake' };
  return { name, identity: { name }, agent: fakeAgent(), memory: fakeMemory(), ...names, ...overrides };
}

/** An agent that does this for some samples, told by their task. */
function agentThat(act: (id: string) => void) {
  return fakeAgent({
    respond: async (task) => {
      const id = /about (\w+)/.exec(task.query)?.[1] ?? '';
      act(id);
      return fakeReply({ message: `Hello ${id}.` });
    },
  });
}

function inputOf(overrides: Partial<RunInput> = {}): RunInput & { store: WatchedStore } {
  return {
    runId: 'run-1',
    fingerprint: 'print',
    benchmark: fakeBenchmark(),
    benchmarkIdentity: { prompt: 'p' },
    samples: ['s0', 's1', 's2', 's3'].map((id) => fakeSample(id)),
    arms: [arm('one'), arm('two')],
    repeats: 1,
    seed: 0,
    concurrency: 2,
    readyTimeoutS: 60,
    memoryTimeoutS: 300,
    clock: manualClock(Date.UTC(2025, 0, 1)),
    versions: { heams: '0.1.0', node: 'v20.20.0' },
    stop: new AbortController().signal,
    signal: new AbortController().signal,
    ...overrides,
    store: (overrides.store as WatchedStore | undefined) ?? new WatchedStore(),
  };
}

async function recordsOf(store: MemoryStore, experiment: string): Promise<SampleRecord[]> {
  const records: SampleRecord[] = [];
  for await (const record of store.records(experiment)) records.push(record);
  return records;
}

const counts = ({ experiment, state, planned, done, failed, stop_reason }: RunStatus) => ({
  experiment,
  state,
  planned,
  done,
  failed,
  ...(stop_reason === undefined ? {} : { stop_reason }),
});

describe('runBenchmark', () => {
  it('runs every sample in every arm and repeat, once, and keeps valid records', async () => {
    const input = inputOf({ repeats: 2 });
    const told: string[] = [];
    const outcome = await runBenchmark({
      ...input,
      onPlan: (plan) => told.push(JSON.stringify(plan)),
      onRecord: async ({ experiment, sample_id, repeat }) => void told.push(`${experiment} ${sample_id} ${repeat}`),
    });
    expect(outcome).toMatchObject({ planned: 16, resumed: 0, done: 16, failed: 0, abandoned: 0 });
    expect(outcome.stopped).toBeUndefined();
    expect(told[0]).toBe('{"planned":16,"pending":16}');
    expect(new Set(told).size).toBe(17);
    for (const experiment of ['one', 'two']) {
      const records = await recordsOf(input.store, experiment);
      expect(records.map(({ sample_id, repeat }) => `${sample_id} ${repeat}`).sort()).toEqual(
        ['s0 0', 's0 1', 's1 0', 's1 1', 's2 0', 's2 1', 's3 0', 's3 1'].sort(),
      );
      for (const record of records) recordSchema.parse(record);
    }
    for (const { signal } of [{ signal: input.stop }, { signal: input.signal }]) {
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });

  it('gives the same records again but for ids and times', async () => {
    const linesOf = async (runId: string, start: number) => {
      const input = inputOf({ runId, clock: manualClock(start), concurrency: 3 });
      await runBenchmark(input);
      const records = [...(await recordsOf(input.store, 'one')), ...(await recordsOf(input.store, 'two'))];
      return records.map((record) => {
        const { run_id, timings, ...rest } = record;
        expect(run_id).toBe(runId);
        expect(timings.started_at).toBe(new Date(start).toISOString());
        return JSON.stringify(rest);
      });
    };
    expect(await linesOf('run-1', 0)).toEqual(await linesOf('run-2', Date.UTC(2030, 5, 1)));
  });

  it('has a status of every arm, running at first, done at last', async () => {
    const input = inputOf();
    const { statuses } = await runBenchmark(input);
    const [first, second] = input.store.written;
    expect([first, second].map((status) => status && counts(status))).toEqual([
      { experiment: 'one', state: 'running', planned: 4, done: 0, failed: 0 },
      { experiment: 'two', state: 'running', planned: 4, done: 0, failed: 0 },
    ]);
    expect(statuses.map(counts)).toEqual([
      { experiment: 'one', state: 'done', planned: 4, done: 4, failed: 0 },
      { experiment: 'two', state: 'done', planned: 4, done: 4, failed: 0 },
    ]);
    expect([...input.store.statuses.values()]).toEqual(statuses);
    expect(statuses[0]).toMatchObject({ version: 1, run_id: 'run-1', fingerprint: 'print' });
  });

  it('writes statuses now and then, never an older one over a newer one', async () => {
    const clock = manualClock(Date.UTC(2025, 0, 1));
    const agent = fakeAgent({ respond: () => clock.advance(1500).then(() => fakeReply()) });
    const input = inputOf({ clock, arms: [arm('one', { agent })], concurrency: 1 });
    await runBenchmark(input);
    // Records come after 1.5, 3, 4.5 and 6 s; a status every 2 s at most.
    const seen = input.store.written.map(({ done, updated_at }) => `${done} ${updated_at.slice(17, 21)}`);
    expect(seen).toEqual(['0 00.0', '2 03.0', '4 06.0', '4 06.0']);
    expect(new Set(input.store.written.map(({ started_at }) => started_at)).size).toBe(1);
  });

  it('tells arms with failures from arms without, and goes on after a failure', async () => {
    const failing = agentThat((id) => {
      if (id !== 's0') throw new Error('no answer');
    });
    const input = inputOf({ arms: [arm('one', { agent: failing }), arm('two')] });
    const { statuses, done, failed } = await runBenchmark(input);
    expect([done, failed]).toEqual([5, 3]);
    expect(statuses.map(counts)).toEqual([
      { experiment: 'one', state: 'done_with_failures', planned: 4, done: 1, failed: 3 },
      { experiment: 'two', state: 'done', planned: 4, done: 4, failed: 0 },
    ]);
  });

  it('runs only what is missing on resume, and tries what failed again', async () => {
    const store = new WatchedStore();
    const control = new AbortController();
    const first = agentThat((id) => {
      if (id === 's1') throw new Error('no answer');
      if (id === 's2') control.abort();
    });
    const before = await runBenchmark(
      inputOf({ store, arms: [arm('one', { agent: first })], concurrency: 1, stop: control.signal }),
    );
    expect(before.statuses.map(counts)).toEqual([
      { experiment: 'one', state: 'stopped', planned: 4, done: 2, failed: 1, stop_reason: 'interrupted' },
    ]);
    const asked: string[] = [];
    let plan: unknown;
    store.written.length = 0;
    const after = await runBenchmark({
      ...inputOf({ store, arms: [arm('one', { agent: agentThat((id) => asked.push(id)) })], concurrency: 1 }),
      onPlan: (told) => {
        plan = told;
      },
    });
    expect(asked).toEqual(['s1', 's3']);
    expect(plan).toEqual({ planned: 4, pending: 2 });
    expect(after).toMatchObject({ planned: 4, resumed: 2, done: 2, failed: 0 });
    expect(store.written[0]).toMatchObject({ state: 'running', done: 2, failed: 1 });
    expect(after.statuses.map(counts)).toEqual([{ experiment: 'one', state: 'done', planned: 4, done: 4, failed: 0 }]);
    const records = await recordsOf(store, 'one');
    expect(records.map(({ sample_id, status }) => `${sample_id} ${status}`)).toEqual([
      ...['s0 done', 's2 done', 's1 done', 's3 done'],
    ]);
  });

  it('has nothing to do when all is done', async () => {
    const input = inputOf();
    await runBenchmark(input);
    const untouched = agentThat(() => {
      throw new Error('must not be asked');
    });
    const again = await runBenchmark({ ...input, arms: [arm('one', { agent: untouched }), arm('two')] });
    expect(again).toMatchObject({ planned: 8, resumed: 8, done: 0, failed: 0 });
    expect(again.statuses.map(({ state }) => state)).toEqual(['done', 'done']);
  });

  it('counts what an earlier and larger plan has done only as far as it is planned now', async () => {
    const input = inputOf();
    await runBenchmark(input);
    const smaller = await runBenchmark({ ...input, samples: input.samples.slice(0, 1) });
    expect(smaller.statuses.map(counts)).toEqual([
      { experiment: 'one', state: 'done', planned: 1, done: 1, failed: 0 },
      { experiment: 'two', state: 'done', planned: 1, done: 1, failed: 0 },
    ]);
  });

  it('stops when the budget is reached, with the reason; an arm that was complete is done', async () => {
    const spent = agentThat((id) => {
      if (id === 's3') throw new BudgetError('the budget of 1.00 USD is spent');
    });
    const input = inputOf({ arms: [arm('two'), arm('one', { agent: spent })], concurrency: 1 });
    const outcome = await runBenchmark(input);
    expect(outcome).toMatchObject({ done: 7, failed: 0, abandoned: 1, stopped: { reason: 'budget' } });
    expect(outcome.statuses.map(counts)).toEqual([
      { experiment: 'two', state: 'done', planned: 4, done: 4, failed: 0 },
      { experiment: 'one', state: 'stopped', planned: 4, done: 3, failed: 0, stop_reason: 'budget' },
    ]);
    expect(outcome.statuses[1]?.stop_message).toBe('the budget of 1.00 USD is spent');
    expect((await recordsOf(input.store, 'one')).length).toBe(3);
  });

  it('stops at the limit of failures', async () => {
    const failing = agentThat(() => {
      throw new Error('no answer');
    });
    const input = inputOf({ arms: [arm('one', { agent: failing })], concurrency: 1, maxFailures: 2 });
    const outcome = await runBenchmark(input);
    expect(outcome.stopped).toEqual({ reason: 'failure_limit' });
    expect(outcome.statuses.map(counts)).toEqual([
      { experiment: 'one', state: 'stopped', planned: 4, done: 0, failed: 2, stop_reason: 'failure_limit' },
    ]);
  });

  it('stops with the first error when the store can take nothing more, not even a status', async () => {
    class FullStore extends WatchedStore {
      private full = false;
      override async append(record: SampleRecord): Promise<void> {
        if (record.sample_id !== 's2') return super.append(record);
        this.full = true;
        throw new Error('no space left on device');
      }
      override async writeStatus(status: RunStatus): Promise<void> {
        if (this.full) throw new Error('no space left for a status');
        await super.writeStatus(status);
      }
    }
    const input = inputOf({ store: new FullStore(), arms: [arm('one')], concurrency: 1 });
    const outcome = await runBenchmark(input);
    expect(outcome.stopped).toMatchObject({ reason: 'error', error: { message: 'no space left on device' } });
    expect(outcome.statuses.map(counts)).toEqual([
      { experiment: 'one', state: 'stopped', planned: 4, done: 2, failed: 0, stop_reason: 'error' },
    ]);
  });

  it('stops when whoever is told of a record fails; the record is kept', async () => {
    const input = inputOf({ arms: [arm('one')], concurrency: 1 });
    const error = new Error('the listener failed');
    const outcome = await runBenchmark({ ...input, onRecord: () => Promise.reject(error) });
    expect(outcome.stopped).toEqual({ reason: 'error', error });
    expect((await recordsOf(input.store, 'one')).length).toBe(1);
    expect(outcome.statuses[0]).toMatchObject({ state: 'stopped', done: 1, stop_message: 'the listener failed' });
  });

  it('does not start when the first status cannot be written', async () => {
    class ReadOnlyStore extends WatchedStore {
      override async writeStatus(): Promise<void> {
        throw new Error('read-only');
      }
    }
    const memory = fakeMemory();
    const input = inputOf({ store: new ReadOnlyStore(), arms: [arm('one', { memory })] });
    await expect(runBenchmark(input)).rejects.toThrow('read-only');
    expect(memory.opened).toEqual([]);
  });

  it('never has one scope for two: each is opened once, under the key of its job, and disposed of', async () => {
    const memory = fakeMemory();
    const input = inputOf({ arms: [arm('one', { memory }), arm('two', { memory })], repeats: 2 });
    await runBenchmark(input);
    expect(memory.opened.length).toBe(16);
    expect(new Set(memory.opened).size).toBe(16);
    expect([...memory.disposed].sort()).toEqual([...memory.opened].sort());
  });

  it('runs jobs elsewhere when it is told where', async () => {
    const local = inputOf({ arms: [arm('one')] });
    await runBenchmark(local);
    const kept = new Map((await recordsOf(local.store, 'one')).map((record) => [record.key, record]));
    const memory = fakeMemory();
    const input = inputOf({ arms: [arm('one', { memory })] });
    const outcome = await runBenchmark({ ...input, execute: async ({ key }) => kept.get(key) as SampleRecord });
    expect(outcome.done).toBe(4);
    expect(memory.opened).toEqual([]);
  });
});
