import type { CallContext, Clock } from '../contracts/call.ts';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../contracts/memory.ts';
import { abortable } from '../lib/abortable.ts';
import { HeamsError } from '../lib/errors.ts';
import { withinTime } from '../lib/within-time.ts';
import type { Fact, Recall, StoredItem } from '../schema/record.ts';

export interface ScopeGuard {
  capabilities: MemoryCapabilities;
  /** What is written to the scope: nothing else may ever come out of it. */
  facts: readonly Fact[];
  /** Deadline for every answer of the memory, in seconds. */
  timeoutS: number;
  clock: Clock;
  signal: AbortSignal;
}

/** What a memory gives in time; a memory that answers after its deadline is a failure, whatever it says then. */
export function inTime<T>(
  what: string,
  answer: Promise<T>,
  { timeoutS, clock, signal }: Pick<ScopeGuard, 'timeoutS' | 'clock' | 'signal'>,
): Promise<T> {
  const late = () =>
    new HeamsError(`the memory did not answer within ${timeoutS} s: ${what}`, {
      code: 'memory_timeout',
      hint: 'raise memory_timeout_s in the run file, or look at the memory service',
    });
  return withinTime(() => answer, { seconds: timeoutS, clock, signal, late });
}

/**
 * Refuses what cannot have come from this scope: a fact of another sample is another person's data, and counting it as
 * recalled, or as not recalled, would both be wrong. Where a system rewrites facts, only what it names can be checked.
 */
export function foreignTo({ facts, capabilities }: Pick<ScopeGuard, 'facts' | 'capabilities'>) {
  const ids = new Set(facts.map((fact) => fact.id));
  const texts = new Set(facts.map((fact) => fact.text));
  return (items: readonly StoredItem[]): void => {
    const foreign = items.filter(
      (item) => item.fact_ids.some((id) => !ids.has(id)) || (!capabilities.rewrites && !texts.has(item.text)),
    );
    if (foreign.length === 0) return;
    throw new HeamsError(
      `the memory gave ${foreign.length} of ${items.length} items that were not stored in this scope`,
      {
        code: 'memory_foreign_item',
        expected: 'what was written to this scope',
        found: foreign
          .slice(0, 3)
          .map((item) => JSON.stringify(item.text.slice(0, 80)))
          .join(', '),
        hint: '`heams doctor isolation` shows whether scopes of this memory are kept apart',
      },
    );
  };
}

/**
 * A scope that is held to its contract, whatever its backend does: every answer has a deadline, is given up with the
 * run (the first Ctrl-C promises an end within seconds), holds nothing of another scope and no more than was asked for.
 */
export function guardedScope(scope: MemoryScope, guard: ScopeGuard): MemoryScope {
  const refuseForeign = guard.capabilities.external ? () => {} : foreignTo(guard);
  const limited = guard.capabilities.honours_k;
  const checked = (recall: Recall, k?: number): Recall => {
    // A backend that says that it honours k is held to it, whatever this one answer says of k.
    if (k !== undefined && (limited || recall.requested_k !== undefined) && recall.items.length > k) {
      throw new HeamsError(`the memory gave ${recall.items.length} items where ${k} were asked for`, {
        code: 'memory_too_many',
        expected: `at most ${k} items`,
        found: String(recall.items.length),
      });
    }
    refuseForeign(recall.items);
    return recall;
  };
  /** How many items the last list had: the one after priming. */
  let held = 0;
  const list = async (): Promise<StoredItem[]> => inTime('list', scope.list(), guard);
  // Nothing found may be all that there is left: emptied by another process, or started again. That is no discretion.
  // Where the memory has tools, the agent may have deleted it all itself.
  const stillThere = async ({ items }: Recall): Promise<void> => {
    if (items.length > 0 || held === 0 || scope.tools) return;
    const left = (await list()).length;
    if (guard.capabilities.rewrites ? left > 0 : left >= held) return;
    throw new HeamsError(`the memory holds ${left} of the ${held} items that it held after priming`, {
      code: 'memory_lost_facts',
      hint: 'two runs of one config at once need places of their own; look whether the memory was started again',
    });
  };
  const tools = scope.tools?.map(({ spec, run }) => ({
    spec,
    run: async (input: Parameters<typeof run>[0]) => {
      const answer = await inTime(spec.name, run(input), guard);
      if (answer.recall) checked(answer.recall);
      return answer;
    },
  }));
  return {
    write: (facts) => inTime('write', scope.write(facts), guard),
    ready: (signal) => abortable(scope.ready(signal), signal),
    search: async (query, k) => {
      const recall = checked(await inTime('search', scope.search(query, k), guard), k);
      await stillThere(recall);
      return recall;
    },
    list: async () => {
      const items = await list();
      held = items.length;
      return items;
    },
    ...(tools ? { tools } : {}),
    // Not given up with the run: it is what cleans up.
    dispose: () => inTime('dispose', scope.dispose(), { ...guard, signal: new AbortController().signal }),
  };
}

/**
 * A scope of this memory, held to its contract. One that opens after its deadline is disposed of when it comes: nobody
 * waits for it any more.
 */
export async function openGuarded(
  memory: MemoryBackend,
  scopeId: string,
  { call, ...guard }: ScopeGuard & { call: CallContext },
): Promise<MemoryScope> {
  const opening = memory.open(scopeId, call);
  try {
    return guardedScope(await inTime('open', opening, guard), guard);
  } catch (error) {
    opening.then((scope) => scope.dispose()).catch(() => undefined);
    throw error;
  }
}
