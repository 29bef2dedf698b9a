import type { CallContext, Clock } from '../contracts/call.ts';
import type { MemoryBackend, MemoryCapabilities, MemoryScope, MemoryTool } from '../contracts/memory.ts';
import { abortable } from '../lib/abortable.ts';
import { HeamsError } from '../lib/errors.ts';
import { type LinkedAbort, linkedAbort } from '../lib/linked-abort.ts';
import { sleepOn } from '../lib/on-abort.ts';
import type { Json } from '../schema/json.ts';
import type { Fact, Recall, RecallItem, StoredItem } from '../schema/record.ts';

/** One scope of a memory that lives outside this file's control: a database, a library, a service. */
export interface ServiceStore {
  add(facts: readonly Fact[]): Promise<void>;
  /** Everything that the system holds of the scope, in order of writing where it keeps one. */
  all(): Promise<StoredItem[]>;
  /** At most `k` items, best first, and the reply as the system gave it. */
  find(query: string, k: number): Promise<{ items: RecallItem[]; raw?: Json }>;
  /** Deletes everything of the scope. */
  clear(): Promise<void>;
  /**
   * Whether all that was written can be found; asked again and again until it is so. Absent where a write that has
   * resolved can be found.
   */
  settled?(written: readonly Fact[]): Promise<boolean>;
  readonly tools?: readonly MemoryTool[];
}

export interface ServiceBackendSpec {
  /** Name of the plug-in. */
  name: string;
  topK: number;
  capabilities: MemoryCapabilities;
  clock: Clock;
  /** How long to wait between two looks at `settled`, in milliseconds. */
  pollMs?: number;
  /**
   * Whether a write that is under way is given up when its scope is disposed of: for a memory in this process whose writes
   * ask models, which would go on and be paid for by nobody. Not for a server, which may write after the deletion.
   */
  givesUpWrites?: boolean;
  /** A fresh scope. What an earlier run left under this id is gone when it resolves. */
  open(scopeId: string, call: CallContext): Promise<ServiceStore>;
  close?(): Promise<void>;
}

const POLL_MS = 250;

/**
 * A backend over a system that keeps the facts itself. What every such backend must get right is here once: writes in
 * turn, readiness by asking, one meaning of k, and a disposal that looks whether anything is left.
 */
export function serviceBackend(spec: ServiceBackendSpec): MemoryBackend {
  const { name, topK, capabilities } = spec;
  let closed = false;
  return {
    name,
    topK,
    capabilities,
    async open(scopeId, call) {
      if (closed) throw misuse(`memory "${name}" was closed`);
      call.signal.throwIfAborted();
      if (!spec.givesUpWrites) return new ServiceScope({ spec, scopeId, call, store: await spec.open(scopeId, call) });
      const own = linkedAbort(call.signal);
      try {
        const store = await spec.open(scopeId, { ...call, signal: own.signal });
        return new ServiceScope({ spec, scopeId, call, store, own });
      } catch (error) {
        own.release();
        throw error;
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      await spec.close?.();
    },
  };
}

interface ScopeParts {
  spec: ServiceBackendSpec;
  scopeId: string;
  call: CallContext;
  store: ServiceStore;
  /** Ends the store's own calls, where it gives up writes. */
  own?: LinkedAbort;
}

class ServiceScope implements MemoryScope {
  readonly tools?: readonly MemoryTool[];
  readonly #parts: ScopeParts;
  readonly #facts: Fact[] = [];
  #disposed = false;
  #disposing: Promise<void> | undefined;
  /** Ends when the last write so far has ended; never rejects. Writes take turns, so that their order is kept. */
  #written: Promise<void> = Promise.resolve();

  constructor(parts: ScopeParts) {
    this.#parts = parts;
    const { tools } = parts.store;
    if (tools) this.tools = tools.map(({ spec, run }) => ({ spec, run: (input) => this.#use(() => run(input)) }));
  }

  write(facts: readonly Fact[]): Promise<void> {
    const turn = this.#written.then(async () => {
      this.#check();
      if (facts.length > 0) await this.#parts.store.add(facts);
      this.#check();
      this.#facts.push(...facts);
    });
    this.#written = turn.catch(() => {});
    return turn;
  }

  async ready(signal: AbortSignal): Promise<void> {
    const { store, spec } = this.#parts;
    signal.throwIfAborted();
    await abortable(this.#written, signal);
    this.#check();
    if (!store.settled || this.#facts.length === 0) return;
    while (!(await abortable(store.settled(this.#facts), signal))) {
      await sleepOn(spec.clock, spec.pollMs ?? POLL_MS, signal);
      this.#check();
    }
  }

  async search(query: string, k: number): Promise<Recall> {
    if (!Number.isInteger(k) || k < 1) throw new RangeError(`k is a positive whole number, got ${k}`);
    const { store, spec } = this.#parts;
    const { items, raw } = await this.#use(() => store.find(query, k));
    const requested = spec.capabilities.honours_k ? { requested_k: k } : {};
    return { query, ...requested, items, ...(raw === undefined ? {} : { raw }) };
  }

  list(): Promise<StoredItem[]> {
    return this.#use(() => this.#parts.store.all());
  }

  dispose(): Promise<void> {
    this.#disposed = true;
    this.#disposing ??= this.#clear();
    return this.#disposing;
  }

  async #clear(): Promise<void> {
    const { store, spec, scopeId, own } = this.#parts;
    own?.abort(misuse(`memory scope "${scopeId}" was disposed`));
    own?.release();
    // A write that comes in late would outlive its scope.
    await this.#written;
    await store.clear();
    const left = await store.all();
    if (left.length === 0) return;
    throw new HeamsError(`memory "${spec.name}" still holds ${left.length} items of a scope that was cleared`, {
      code: 'memory_not_cleared',
      expected: 'nothing left of the scope',
      found: `${left.length} items of ${scopeId}`,
      hint: 'facts that stay behind can turn up elsewhere: clear the service, and report it to its makers',
    });
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    await this.#written;
    this.#check();
    const result = await work();
    this.#check();
    return result;
  }

  #check(): void {
    if (this.#disposed) throw misuse(`memory scope "${this.#parts.scopeId}" was disposed`);
    this.#parts.call.signal.throwIfAborted();
  }
}

function misuse(message: string): HeamsError {
  return new HeamsError(message, { code: 'memory_closed', hint: 'open a new one: it starts empty' });
}
