import type { MemoryScope } from '../contracts/memory.ts';
import { abortable } from '../lib/abortable.ts';

/**
 * A scope that is given up with the run, whatever its backend is waiting for: the first Ctrl-C promises an end within
 * seconds, for backends too that never look at a signal. Disposal is not given up: it is what cleans up.
 */
export function abortableScope(scope: MemoryScope, signal: AbortSignal): MemoryScope {
  return {
    write: (facts) => abortable(scope.write(facts), signal),
    ready: (given) => abortable(scope.ready(given), given),
    search: (query, k) => abortable(scope.search(query, k), signal),
    list: () => abortable(scope.list(), signal),
    dispose: () => scope.dispose(),
  };
}
