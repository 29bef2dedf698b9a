import type { CallContext, Clock } from '../contracts/call.ts';
import type {
  MemoryBackend,
  MemoryCapabilities,
  MemoryScope,
  OwnMemory,
  OwnMemoryOptions,
} from '../contracts/memory.ts';
import { abortable } from '../lib/abortable.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Fact, Recall, StoredItem } from '../schema/record.ts';

/** One turn in which the user tells facts. */
export interface Telling {
  session: string;
  /** ISO 8601 in UTC; absent where the facts have no times. */
  at?: string;
  content: string;
  facts: readonly Fact[];
}

/** What an agent with a memory of its own can be asked to do. */
export interface OwnMemoryHooks {
  clock: Clock;
  needsNetwork: boolean;
  /** Starts a scope; what an earlier run told under this id is forgotten when it resolves. */
  begin(scopeId: string, call: CallContext): Promise<void>;
  tell(scopeId: string, telling: Telling, call: CallContext): Promise<void>;
  /** Rejects unless the agent confirms that it has forgotten everything of the scope. */
  forget(scopeId: string, call: CallContext): Promise<void>;
}

/** The session of facts that name none. */
const ONE_SESSION = 'session';
/** A run that is given up ends within seconds, whether or not the agent still answers. */
const FORGET_GRACE_MS = 2000;

/** Facts as the turns that tell them: each alone, or those that follow each other in one session together. */
export function tellings(facts: readonly Fact[], { telling, each }: OwnMemoryOptions): Telling[] {
  const groups: Fact[][] = [];
  for (const fact of facts) {
    const last = groups.at(-1);
    if (each === 'session' && last && last[0]?.session === fact.session) last.push(fact);
    else groups.push([fact]);
  }
  return groups.map((group) => {
    const { session = ONE_SESSION, at } = group[0] as Fact;
    return { session, ...(at === undefined ? {} : { at }), content: telling(group), facts: group };
  });
}

/** The memory of an agent as a backend. Nobody but the agent knows what it holds, so it lists and finds nothing. */
export function ownMemoryOf(hooks: OwnMemoryHooks): OwnMemory {
  const capabilities: MemoryCapabilities = {
    stores: false,
    rewrites: true,
    provenance: false,
    honours_k: false,
    needs_network: hooks.needsNetwork,
    needs_key: false,
    external: true,
  };
  return (options): MemoryBackend => {
    let closed = false;
    return {
      name: 'own_memory',
      capabilities,
      // A search needs a number; this one has no effect.
      topK: 1,
      async open(scopeId, call) {
        if (closed) throw misuse('memory "own_memory" was closed');
        call.signal.throwIfAborted();
        await hooks.begin(scopeId, call);
        return new OwnScope({ hooks, options, scopeId, call });
      },
      // The agent itself is closed by whoever made it.
      async close() {
        closed = true;
      },
    };
  };
}

interface ScopeParts {
  hooks: OwnMemoryHooks;
  options: OwnMemoryOptions;
  scopeId: string;
  call: CallContext;
}

class OwnScope implements MemoryScope {
  readonly #parts: ScopeParts;
  #disposing: Promise<void> | undefined;
  /** Ends when the last write so far has ended; never rejects. What is told is told in order. */
  #written: Promise<void> = Promise.resolve();

  constructor(parts: ScopeParts) {
    this.#parts = parts;
  }

  write(facts: readonly Fact[]): Promise<void> {
    const { hooks, options, scopeId, call } = this.#parts;
    const turn = this.#written.then(async () => {
      this.#check();
      for (const telling of tellings(facts, options)) {
        await hooks.tell(scopeId, telling, call);
        this.#check();
      }
    });
    this.#written = turn.catch(() => {});
    return turn;
  }

  async ready(signal: AbortSignal): Promise<void> {
    await abortable(this.#written, signal);
    this.#check();
  }

  async search(query: string): Promise<Recall> {
    this.#check();
    return { query, items: [] };
  }

  async list(): Promise<StoredItem[]> {
    this.#check();
    return [];
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#forget();
    return this.#disposing;
  }

  /** Cleans up although the run is given up, but does not wait long for it then. */
  async #forget(): Promise<void> {
    const { hooks, scopeId, call } = this.#parts;
    await this.#written;
    const own = new AbortController();
    const timer = new AbortController();
    if (call.signal.aborted) {
      hooks.clock.sleep(FORGET_GRACE_MS, timer.signal).then(
        () => own.abort(call.signal.reason),
        () => {},
      );
    }
    try {
      await hooks.forget(scopeId, { ...call, signal: own.signal });
    } finally {
      timer.abort(new Error('forgotten'));
    }
  }

  #check(): void {
    if (this.#disposing) throw misuse(`memory scope "${this.#parts.scopeId}" was disposed`);
    this.#parts.call.signal.throwIfAborted();
  }
}

function misuse(message: string): HeamsError {
  return new HeamsError(message, { code: 'memory_closed', hint: 'open a new one: it starts empty' });
}
