import { z } from 'zod';
import type { MemoryBackend, MemoryScope } from '../../src/contracts/memory.ts';
import type { MemoryPlugin } from '../../src/contracts/plugin.ts';
import { serviceBackend } from '../../src/memory/service-backend.ts';
import type { Fact } from '../../src/schema/record.ts';
import { fakeCapabilities, fakeScope } from './fake-parts.ts';

const never = () => new Promise<never>(() => {});
const schema = z.strictObject({ name: z.string().optional(), backend: z.string() });

/** A store of this process, and what its scopes do wrong. `others` are the facts that other scopes have written. */
type Fault = (scope: MemoryScope, others: () => readonly Fact[]) => Partial<MemoryScope>;

const itemsOf = (facts: readonly Fact[]) => facts.map(({ id, text }) => ({ text, fact_ids: [id] }));

const faults: Record<string, Fault> = {
  sound: () => ({}),
  never_ready: () => ({ ready: never }),
  drops_a_write: (scope) => ({ write: (facts) => scope.write(facts.slice(1)) }),
  writes_late: () => ({ write: never }),
  searches_late: () => ({ search: never }),
  finds_what_is_anothers: (scope, others) => ({
    async search(query, k) {
      const recall = await scope.search(query, k);
      return { ...recall, items: [...itemsOf(others().slice(0, 1)), ...recall.items].slice(0, k) };
    },
  }),
  lists_what_is_anothers: (scope, others) => ({
    list: async () => [...(await scope.list()), ...itemsOf(others())],
  }),
  finds_more_than_asked: (scope) => ({
    search: async (query, k) => ({ ...(await scope.search(query, k + 1)), requested_k: k }),
  }),
};

function backendOf(name: string, fault: Fault): MemoryBackend {
  const written = new Map<string, readonly Fact[]>();
  return {
    name,
    topK: 3,
    capabilities: fakeCapabilities(),
    async open(scopeId) {
      const scope = fakeScope();
      const noted: MemoryScope = {
        ...scope,
        async write(facts) {
          written.set(scopeId, facts);
          await scope.write(facts);
        },
      };
      const others = () => [...written].filter(([id]) => id !== scopeId).flatMap(([, facts]) => facts);
      return { ...noted, ...fault(noted, others) };
    },
    close: async () => {},
  };
}

/** A service that takes the order to clear a scope and does nothing about it. */
const clearsInTheLog: MemoryPlugin['create'] = async (_options, { clock }) =>
  serviceBackend({
    name: 'clears_in_the_log',
    topK: 3,
    capabilities: fakeCapabilities(),
    clock,
    async open() {
      const kept: Fact[] = [];
      return {
        add: async (facts) => void kept.push(...facts),
        all: async () => itemsOf(kept),
        find: async (_query, k) => ({ items: itemsOf(kept.slice(0, k)) }),
        clear: async () => {},
      };
    },
  });

const opensLate: MemoryPlugin['create'] = async () => ({ ...backendOf('opens_late', () => ({})), open: never });

const plugin = (name: string, create: MemoryPlugin['create']): MemoryPlugin => ({
  name,
  summary: 'a memory for tests',
  needs: 'nothing',
  schema,
  create,
});

/** Memories by what is wrong with them, as the registry has them. */
export const faultyMemories: Record<string, () => Promise<MemoryPlugin>> = Object.fromEntries(
  [
    ...Object.entries(faults).map(([name, fault]) => plugin(name, async () => backendOf(name, fault))),
    plugin('clears_in_the_log', clearsInTheLog),
    plugin('opens_late', opensLate),
  ].map((one) => [one.name, async () => one]),
);
