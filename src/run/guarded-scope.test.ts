import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { fakeCall, manualClock } from '../../test/support/fake-call.ts';
import { fakeCapabilities, fakeMemory, fakeSample, fakeScope } from '../../test/support/fake-parts.ts';
import type { MemoryCapabilities, MemoryScope, MemoryTool } from '../contracts/memory.ts';
import type { RecallItem } from '../schema/record.ts';
import { foreignTo, guardedScope, inTime, openGuarded } from './guarded-scope.ts';

const { facts } = fakeSample('s0');
const own = facts.map(({ id, text }) => ({ text, fact_ids: [id] }));
const never = () => new Promise<never>(() => {});

function bench(scope: Partial<MemoryScope> = {}, capabilities: Partial<MemoryCapabilities> = {}) {
  const clock = manualClock();
  const control = new AbortController();
  const guard = { capabilities: fakeCapabilities(capabilities), facts, timeoutS: 5, clock, signal: control.signal };
  return { clock, control, guard, scope: guardedScope(fakeScope(scope), guard) };
}

const finding = (items: RecallItem[], k?: number): Partial<MemoryScope> => ({
  search: async (query) => ({ query, ...(k === undefined ? {} : { requested_k: k }), items }),
});

describe('inTime', () => {
  it('gives the answer, and leaves no timer and no listener', async () => {
    const { clock, control, guard } = bench();
    expect(await inTime('list', Promise.resolve(7), guard)).toBe(7);
    await expect(inTime('list', Promise.reject(new Error('503')), guard)).rejects.toThrow('503');
    expect(clock.sleepers).toBe(0);
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
  });

  it('takes an answer just in time, and refuses one at the deadline', async () => {
    const { clock, guard } = bench();
    const early = inTime('search', clock.sleep(4999), guard);
    const late = expect(inTime('search', clock.sleep(5001), guard)).rejects.toMatchObject({
      code: 'memory_timeout',
      message: 'the memory did not answer within 5 s: search',
      hint: expect.stringContaining('memory_timeout_s') as string,
    });
    await clock.advance(5001);
    await early;
    await late;
    expect(clock.sleepers).toBe(0);
  });

  it('gives up with the run, also before it began', async () => {
    const { clock, control, guard } = bench();
    const reason = new Error('stop');
    const waiting = expect(inTime('write', never(), guard)).rejects.toBe(reason);
    await clock.advance(1);
    control.abort(reason);
    await waiting;
    await expect(inTime('write', never(), guard)).rejects.toBe(reason);
    expect(clock.sleepers).toBe(0);
  });
});

describe('a search that finds nothing', () => {
  const searched = (listed: readonly object[][], scope: Partial<MemoryScope> = {}) => {
    const lists = listed.map((ids) => ids as typeof own);
    return bench({ ...finding([], 3), list: async () => lists.shift() ?? [], ...scope }).scope;
  };

  it('is a failure where the memory has lost what it listed after priming: an emptied memory is no discreet one', async () => {
    const scope = searched([own, own.slice(1)]);
    await scope.list();
    await expect(scope.search('q', 3)).rejects.toMatchObject({
      code: 'memory_lost_facts',
      message: 'the memory holds 1 of the 2 items that it held after priming',
    });
  });

  it('is an answer where all is still there, and where the agent may delete notes itself', async () => {
    const whole = searched([own, own]);
    await whole.list();
    expect((await whole.search('q', 3)).items).toEqual([]);
    const tools: MemoryTool[] = [];
    const notes = searched([own, []], { tools });
    await notes.list();
    expect((await notes.search('q', 3)).items).toEqual([]);
    expect((await searched([]).search('q', 3)).items).toEqual([]);
  });
});

describe('a guarded scope', () => {
  const calls: [string, (scope: MemoryScope) => Promise<unknown>][] = [
    ['write', (scope) => scope.write(facts)],
    ['search', (scope) => scope.search('room', 3)],
    ['list', (scope) => scope.list()],
    ['dispose', (scope) => scope.dispose()],
  ];

  it.each(calls)('has a deadline for: %s', async (name, act) => {
    const { clock, scope } = bench({ [name]: never });
    const failed = expect(act(scope)).rejects.toMatchObject({
      code: 'memory_timeout',
      message: expect.stringContaining(name) as string,
    });
    await clock.advance(5000);
    await failed;
  });

  it.each(calls.slice(0, 3))('gives up with the run: %s', async (name, act) => {
    const { clock, control, scope } = bench({ [name]: never });
    const reason = new Error('stop');
    const given = expect(act(scope)).rejects.toBe(reason);
    await clock.advance(1);
    control.abort(reason);
    await given;
  });

  it('cleans up also when the run is given up', async () => {
    const cleared: string[] = [];
    const { control, scope } = bench({ dispose: async () => void cleared.push('s') });
    control.abort(new Error('stop'));
    await scope.dispose();
    expect(cleared).toEqual(['s']);
  });

  it('waits for readiness as long as it is told to, and no longer', async () => {
    const { scope } = bench({ ready: never });
    const control = new AbortController();
    const reason = new Error('not ready');
    const waiting = expect(scope.ready(control.signal)).rejects.toBe(reason);
    control.abort(reason);
    await waiting;
  });

  it('passes on what is right', async () => {
    const { scope } = bench(finding(own, 3));
    await scope.write(facts);
    expect((await scope.search('room', 3)).items).toEqual(own);
    expect((await scope.list()).length).toBe(2);
    expect(scope.tools).toBeUndefined();
  });

  it('refuses more items than were asked for', async () => {
    const tooMany = { code: 'memory_too_many', message: 'the memory gave 2 items where 1 were asked for' };
    await expect(bench(finding(own, 1)).scope.search('room', 1)).rejects.toMatchObject(tooMany);
    // It says that it honours k, and its answer leaves out what was asked for.
    await expect(bench(finding(own)).scope.search('room', 1)).rejects.toMatchObject(tooMany);
    const everything = bench(finding(own), { honours_k: false }).scope;
    expect((await everything.search('room', 1)).items).toEqual(own);
  });

  const foreign: RecallItem = { text: 'Name: somebody else', fact_ids: ['f9'] };
  const refused = { code: 'memory_foreign_item' };

  it.each<[string, RecallItem[], number]>([
    ['the fact of another scope', [foreign], 1],
    ['a text of its own under the id of a fact', [{ text: 'Name: x', fact_ids: ['f0'] }], 1],
    ['a text of the scope under an unknown id', [{ text: own[0]?.text ?? '', fact_ids: ['f9'] }], 1],
    ['a text that nobody wrote, without a source', [...own, { text: 'Hello', fact_ids: [] }], 3],
  ])('refuses %s', async (_what, items, of) => {
    await expect(bench(finding(items, 3)).scope.search('x', 3)).rejects.toMatchObject({
      ...refused,
      message: `the memory gave 1 of ${of} items that were not stored in this scope`,
    });
  });

  it('asks a system that rewrites facts for no more than sources that exist', async () => {
    const rewritten = [{ text: 'They are in room 12.', fact_ids: ['f1'] }];
    expect((await bench(finding(rewritten, 3), { rewrites: true }).scope.search('x', 3)).items).toEqual(rewritten);
    await expect(bench(finding([foreign], 3), { rewrites: true }).scope.search('x', 3)).rejects.toMatchObject(refused);
  });

  it('knows nothing of what a memory of another system holds', async () => {
    expect((await bench(finding([foreign], 3), { external: true }).scope.search('x', 3)).items).toEqual([foreign]);
  });

  it('shows little of a foreign fact, and on one line', () => {
    const long = { text: `first\n${'x'.repeat(500)}`, fact_ids: [] };
    try {
      foreignTo({ facts, capabilities: fakeCapabilities() })([long, long, long, long]);
      expect.unreachable();
    } catch (error) {
      const { found } = error as { found: string };
      expect(found).not.toContain('\n');
      expect(found.length).toBeLessThan(300);
    }
  });

  it("holds the memory's own tools to the same", async () => {
    const spec = { name: 'view', description: 'shows notes', inputSchema: {} };
    const tool = (run: MemoryTool['run']) => bench({ tools: [{ spec, run }] });
    const recalled = (items: RecallItem[]) => async () => ({ content: 'x', recall: { query: '/', items } });

    const good = tool(recalled(own)).scope.tools?.[0];
    expect(good?.spec).toBe(spec);
    expect(await good?.run({})).toEqual({ content: 'x', recall: { query: '/', items: own } });
    expect(await tool(async () => ({ content: 'written' })).scope.tools?.[0]?.run({})).toEqual({ content: 'written' });
    await expect(tool(recalled([foreign])).scope.tools?.[0]?.run({})).rejects.toMatchObject(refused);

    const { clock, scope } = tool(never);
    const late = expect(scope.tools?.[0]?.run({})).rejects.toMatchObject({
      message: 'the memory did not answer within 5 s: view',
    });
    await clock.advance(5000);
    await late;
  });
});

describe('openGuarded', () => {
  it('opens a scope that is guarded', async () => {
    const { guard } = bench();
    const memory = fakeMemory({ scope: finding([{ text: 'not mine', fact_ids: [] }], 3) });
    const scope = await openGuarded(memory, 'one', { ...guard, call: fakeCall() });
    await expect(scope.search('x', 3)).rejects.toMatchObject({ code: 'memory_foreign_item' });
    expect(memory.opened).toEqual(['one']);
  });

  it.each(['after its deadline', 'after the run was given up'])('disposes of a scope that opens %s', async (when) => {
    const { clock, control, guard } = bench();
    const memory = fakeMemory({
      open: async () => {
        await clock.sleep(9000);
        return fakeScope();
      },
    });
    const opening = openGuarded(memory, 'late', { ...guard, call: fakeCall() });
    const failed = expect(opening).rejects.toThrow(when === 'after its deadline' ? 'within 5 s: open' : 'stop');
    await clock.advance(when === 'after its deadline' ? 5000 : 1);
    if (when !== 'after its deadline') control.abort(new Error('stop'));
    await failed;
    expect(memory.disposed).toEqual([]);
    await clock.advance(9000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(memory.disposed).toEqual(['late']);
  });

  it('passes on that it cannot be opened', async () => {
    const { guard } = bench();
    const memory = fakeMemory({ open: () => Promise.reject(new Error('refused')) });
    await expect(openGuarded(memory, 'x', { ...guard, call: fakeCall() })).rejects.toThrow('refused');
    expect(memory.disposed).toEqual([]);
  });
});
