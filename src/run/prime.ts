import type { Clock } from '../contracts/call.ts';
import type { MemoryBackend, MemoryScope } from '../contracts/memory.ts';
import { HeamsError } from '../lib/errors.ts';
import { withinTime } from '../lib/within-time.ts';
import type { Fact, StoredItem } from '../schema/record.ts';
import { foreignTo } from './guarded-scope.ts';

export interface PrimeOptions {
  capabilities: MemoryBackend['capabilities'];
  readyTimeoutS: number;
  clock: Clock;
  signal: AbortSignal;
}

/** Waits until what was written can be found; a memory that is not readable in time is a failure, not an empty one. */
export function readyInTime(
  scope: Pick<MemoryScope, 'ready'>,
  { readyTimeoutS, clock, signal }: Omit<PrimeOptions, 'capabilities'>,
): Promise<void> {
  const late = () =>
    new HeamsError(`the memory was not readable ${readyTimeoutS} s after writing`, {
      code: 'memory_not_ready',
      hint: 'raise memory_ready_timeout_s in the run file, or look at the memory service',
    });
  return withinTime((wait) => scope.ready(wait), { seconds: readyTimeoutS, clock, signal, late });
}

/**
 * Writes the facts, waits until they can be found, and reads back what the memory kept. Where a backend keeps what it
 * is given as it is given, a fact that did not come back is a failure: a memory that did not store cannot be measured.
 * Where it rewrites facts it may drop some, but not all of them. What was never written is a failure everywhere, and so
 * is a fact that is there more than once where facts are kept as they are.
 */
export async function prime(scope: MemoryScope, facts: readonly Fact[], options: PrimeOptions): Promise<StoredItem[]> {
  await scope.write(facts);
  await readyInTime(scope, options);
  const stored = await scope.list();
  const { stores, rewrites, provenance, external } = options.capabilities;
  if (!stores || external) return stored;
  const texts = new Set(stored.map((item) => item.text));
  const ids = new Set(stored.flatMap((item) => item.fact_ids));
  const kept = (fact: Fact) =>
    rewrites ? stored.length > 0 : texts.has(fact.text) && (!provenance || ids.has(fact.id));
  const lost = facts.filter((fact) => !kept(fact));
  if (lost.length > 0) {
    throw new HeamsError(`the memory did not keep ${lost.length} of ${facts.length} facts`, {
      code: 'memory_lost_facts',
      found: `${stored.length} stored items; missing: ${lost
        .map((fact) => fact.key)
        .slice(0, 5)
        .join(', ')}`,
    });
  }
  foreignTo({ facts, capabilities: options.capabilities })(stored);
  // A write that was sent twice, or what an earlier run left: a fact that is there twice takes two of the k places.
  if (!rewrites && stored.length > facts.length) {
    throw new HeamsError(`the memory holds ${stored.length} items where ${facts.length} facts were written`, {
      code: 'memory_extra_items',
      expected: 'each fact once',
      found: `${stored.length} stored items`,
      hint: 'look whether the memory clears a scope, and whether a write that is sent again is taken twice',
    });
  }
  return stored;
}
