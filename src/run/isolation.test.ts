import { describe, expect, it } from 'vitest';
import { fakeCapabilities } from '../../test/support/fake-parts.ts';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../contracts/memory.ts';
import { BudgetError } from '../contracts/model.ts';
import { systemClock } from '../lib/clock.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Fact } from '../schema/record.ts';
import { proveIsolation } from './isolation.ts';
import { canariesIn, canariesOf, isolationScopeIds } from './isolation-canaries.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** How a store that is shared by all scopes tells one scope's rows from another's, and what else it does wrong. */
interface Store {
  rows: { scope: string; fact: Fact }[];
  /** Ids of the scopes that were opened last, as a store with one "current" scope has it. */
  current: string;
}

interface Faults {
  /** Whether a row is shown in a scope. */
  shows?: (row: string, scope: string) => boolean;
  /** Writes go to whatever scope was opened last. */
  current?: boolean;
  /** An opening clears what an earlier run left. */
  clearsOnOpen?: boolean;
  clearsOnDispose?: boolean;
  lists?: boolean;
  scope?: Partial<MemoryScope>;
  capabilities?: Partial<MemoryCapabilities>;
}

function storeOf(faults: Faults = {}) {
  const store: Store = { rows: [], current: '' };
  const made: MemoryBackend[] = [];
  let open = 0;
  let mostOpen = 0;
  const {
    shows = (row, scope) => row === scope,
    current = false,
    clearsOnOpen = true,
    clearsOnDispose = true,
  } = faults;
  const backend = (): MemoryBackend => ({
    name: 'store',
    topK: 3,
    capabilities: fakeCapabilities(faults.capabilities),
    close: async () => {
      open = 0;
    },
    async open(id) {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      if (clearsOnOpen) store.rows = store.rows.filter((row) => row.scope !== id);
      store.current = id;
      const mine = () => store.rows.filter((row) => shows(row.scope, id)).map((row) => row.fact);
      const items = (facts: Fact[]) => facts.map(({ id: one, text }) => ({ text, fact_ids: [one] }));
      return {
        async write(facts) {
          await turn();
          const scope = current ? store.current : id;
          store.rows.push(...facts.map((fact) => ({ scope, fact })));
        },
        ready: async () => {},
        async search(query, k) {
          await turn();
          const ranked = mine().sort((a, b) => Number(b.text === query) - Number(a.text === query));
          return { query, requested_k: k, items: items(ranked.slice(0, k)) };
        },
        list: async () => (faults.lists === false ? [] : items(mine())),
        async dispose() {
          open -= 1;
          if (clearsOnDispose) store.rows = store.rows.filter((row) => row.scope !== id);
        },
        ...faults.scope,
      };
    },
  });
  const make = async () => {
    const one = backend();
    made.push(one);
    return one;
  };
  return { make, made, store, mostOpen: () => mostOpen };
}

const prove = (make: () => Promise<MemoryBackend>, overrides = {}) =>
  proveIsolation(make, {
    scopes: 12,
    concurrency: 4,
    seed: 's',
    readyTimeoutS: 60,
    memoryTimeoutS: 60,
    clock: systemClock,
    meter: { add: () => {} },
    signal: new AbortController().signal,
    ...overrides,
  });

describe('a memory that keeps its scopes apart', () => {
  it('is isolated, with every canary of its own found, and nothing left', async () => {
    const { make, made, store } = storeOf();
    const result = await prove(make);
    expect(result).toMatchObject({ verdict: 'isolated', bleeds: [], bled: 0, failures: [], open_at_once: 12 });
    // Two canaries a scope, looked for while others write and again after: 12 x 2 x 2, in each of two rounds.
    const own = { searched: 48, found: 48, listable: 48, listed: 48 };
    expect(result.own).toEqual({ concurrent: own, resumed: own });
    // With three of others in each look: 12 x (2 x 5) x 2; and three in each empty scope, of which there are 3 x 12.
    expect(result.searches).toBe(240 + 108);
    // The second backend opens what the first one left.
    expect(made.length).toBe(2);
    expect(store.rows).toEqual([]);
  });

  it('is proven in groups where it limits the scopes that are open at once', async () => {
    const { make, made, mostOpen } = storeOf({ capabilities: { max_concurrency: 5 } });
    expect(await prove(make)).toMatchObject({ verdict: 'isolated', open_at_once: 5 });
    expect([made.length, mostOpen()]).toEqual([6, 5]);
  });

  it('may rewrite what it keeps: a canary is known however it is written', async () => {
    const { make } = storeOf({ shows: () => true, capabilities: { rewrites: true } });
    const loud: typeof make = async () => {
      const backend = await make();
      return {
        ...backend,
        async open(id, call) {
          const scope = await backend.open(id, call);
          const spelled = (text: string) => `Note: ${text.toUpperCase().replace(/(.{4})/g, '$1-')}`;
          const items = async () => (await scope.list()).map(({ text }) => ({ text: spelled(text), fact_ids: [] }));
          return { ...scope, list: items, search: async (query: string) => ({ query, items: await items() }) };
        },
      };
    };
    expect((await prove(loud)).verdict).toBe('bleeding');
  });
});

describe('a memory that does not', () => {
  it.each<[string, Faults, string]>([
    ['is one store for all', { shows: () => true }, 'concurrent'],
    ['writes to whatever scope was opened last', { current: true }, 'concurrent'],
    ['looks for ids by how they begin', { shows: (row, scope) => row.startsWith(scope) }, 'concurrent'],
    ['keeps what a crash left', { clearsOnOpen: false }, 'resumed'],
    ['clears in the log alone', { clearsOnOpen: false, clearsOnDispose: false }, 'disposed'],
  ])('bleeds where it %s', async (_name, faults, step) => {
    const result = await prove(storeOf(faults).make);
    expect(result.verdict).toBe('bleeding');
    expect(result.bled).toBeGreaterThanOrEqual(result.bleeds.length);
    expect(result.bleeds.map((bleed) => bleed.step)).toContain(step);
    expect(result.failures).toEqual([]);
  });

  it('is told which canary of which scope was seen where', async () => {
    const { bleeds } = await prove(storeOf({ shows: (row, scope) => row.startsWith(scope) }).make, { scopes: 2 });
    // Scope 1 has the first half of the id of scope 0.
    expect(bleeds.every(({ scope, canary }) => scope === 1 && canary?.scope === 0)).toBe(true);
    expect(new Set(bleeds.map(({ where }) => where))).toEqual(new Set(['list', 'search']));
    expect(new Set(bleeds.map(({ step }) => step)).has('concurrent')).toBe(true);
  });

  it('bleeds where a fresh scope is not empty, whosever that is', async () => {
    const list = async () => [{ text: 'Welcome to your new memory', fact_ids: [] }];
    const { bleeds } = await prove(storeOf({ scope: { list } }).make);
    expect(bleeds[0]).toEqual({ step: 'concurrent', scope: 0, where: 'list', count: 1 });
  });

  it('bleeds where it is shared under concurrency alone, and not where one is used at a time', async () => {
    const current: Faults = { current: true };
    const alone = { ...current, capabilities: { max_concurrency: 1 } };
    expect((await prove(storeOf(current).make)).verdict).toBe('bleeding');
    expect((await prove(storeOf(alone).make)).verdict).toBe('isolated');
  });
});

describe('a memory that proves nothing', () => {
  it('is one that finds nothing', async () => {
    const search = async (query: string, k: number) => ({ query, requested_k: k, items: [] });
    const result = await prove(storeOf({ scope: { search } }).make);
    expect(result).toMatchObject({ verdict: 'unproven', bled: 0, own: { concurrent: { searched: 48, found: 0 } } });
  });

  it('is one that keeps nothing by design', async () => {
    const { make } = storeOf({ shows: () => false, capabilities: { stores: false } });
    expect(await prove(make)).toMatchObject({ verdict: 'unproven', stores: false });
  });

  it('is one that cannot be used: every failure is counted by stage and code, and it is not tried twice', async () => {
    const scope = { write: () => Promise.reject(new HeamsError('no room', { code: 'memory_full' })) };
    const { make, made } = storeOf({ scope });
    const result = await prove(make);
    expect(result.verdict).toBe('failed');
    expect(result.failures).toEqual([
      { step: 'concurrent', stage: 'write', code: 'memory_full', count: 12, message: 'no room' },
    ]);
    expect(made.length).toBe(1);
  });

  it('fails where a few calls fail, though nothing bled', async () => {
    let n = 0;
    const { make } = storeOf();
    const flaky: typeof make = async () => {
      const backend = await make();
      const open: MemoryBackend['open'] = (id, call) =>
        n++ === 3 ? Promise.reject(new TypeError('odd')) : backend.open(id, call);
      return { ...backend, open };
    };
    const result = await prove(flaky);
    expect(result.failures).toEqual([
      { step: 'concurrent', stage: 'open', code: 'internal', count: 1, message: 'odd' },
    ]);
    expect(result).toMatchObject({ verdict: 'failed', own: { concurrent: { found: 44 } } });
  });

  it('is one that never becomes ready, or answers too late: each after its deadline', async () => {
    const never = { ready: () => new Promise<never>(() => {}) };
    const proof = await prove(storeOf({ scope: never }).make, { scopes: 2, readyTimeoutS: 0.05 });
    expect(proof.failures).toMatchObject([{ stage: 'ready', code: 'memory_not_ready', count: 2 }]);
    const slow = { list: () => new Promise<never>(() => {}) };
    const late = await prove(storeOf({ scope: slow }).make, { scopes: 2, memoryTimeoutS: 0.05 });
    expect(late.failures).toMatchObject([{ stage: 'list', code: 'memory_timeout', count: 2 }]);
  });
});

describe('a proof', () => {
  it('is given up with its signal, and when the money is spent', async () => {
    const control = new AbortController();
    control.abort(new Error('stop'));
    await expect(prove(storeOf().make, { signal: control.signal })).rejects.toThrow('stop');
    const scope = { write: () => Promise.reject(new BudgetError('spent')) };
    await expect(prove(storeOf({ scope }).make)).rejects.toThrow(BudgetError);
  });

  it('refuses one scope, which has nobody to be kept apart from', async () => {
    await expect(prove(storeOf().make, { scopes: 1 })).rejects.toThrow(RangeError);
  });

  it('draws the same canaries from the same seed, all of them different, and pairs of ids that begin alike', () => {
    const all = [...canariesOf(64, 'concurrent', 'a'), ...canariesOf(64, 'resumed', 'a')].flat();
    expect(new Set(all.map(({ token }) => token)).size).toBe(256);
    expect(canariesOf(64, 'resumed', 'a')).toEqual(canariesOf(64, 'resumed', 'a'));
    expect(canariesOf(1, 'resumed', 'b')).not.toEqual(canariesOf(1, 'resumed', 'a'));
    for (const { token } of all) expect(token).toMatch(/^[bcdfghjkmnpqrstvwxz][b-df-hj-km-np-tv-xz2-9]{13}$/);
    const ids = isolationScopeIds(5, 'a');
    expect(new Set(ids).size).toBe(5);
    expect(ids.map(({ length }) => length)).toEqual([32, 16, 32, 16, 32]);
    expect(ids[0]?.startsWith(ids[1] as string)).toBe(true);
  });

  it('knows a canary by its fact alone', () => {
    const [[canary]] = canariesOf(1, 'concurrent', 'a') as [[(typeof all)[number]]];
    const all = canariesOf(2, 'concurrent', 'a').flat();
    expect(canariesIn([{ text: 'rewritten', fact_ids: [canary.fact.id] }], all)).toEqual([canary]);
    expect(canariesIn([{ text: 'rewritten', fact_ids: [] }], all)).toEqual([]);
  });
});
