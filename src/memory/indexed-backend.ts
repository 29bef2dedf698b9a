import type { CallContext } from '../contracts/call.ts';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../contracts/memory.ts';
import { abortable } from '../lib/abortable.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Fact, Recall, RecallItem, StoredItem } from '../schema/record.ts';
import type { Hit, TextIndex } from './index/text-index.ts';

export interface IndexedBackendSpec {
  /** Name of the plug-in. */
  name: string;
  topK: number;
  /** What differs from a memory in this process that keeps facts as they are and names them. */
  capabilities?: Partial<MemoryCapabilities>;
  /** The search of one scope. */
  index(call: CallContext): TextIndex;
  close?(): Promise<void>;
}

/** A backend that keeps each scope's facts in this process and finds them through an index. */
export function indexedBackend(spec: IndexedBackendSpec): MemoryBackend {
  const capabilities: MemoryCapabilities = {
    stores: true,
    rewrites: false,
    provenance: true,
    honours_k: true,
    needs_network: false,
    needs_key: false,
    ...spec.capabilities,
  };
  let closed = false;
  return {
    name: spec.name,
    topK: spec.topK,
    capabilities,
    async open(scopeId, call) {
      if (closed) throw misuse(`memory "${spec.name}" was closed`);
      call.signal.throwIfAborted();
      return new IndexedScope({ scopeId, call, capabilities, index: spec.index(call) });
    },
    async close() {
      if (closed) return;
      closed = true;
      await spec.close?.();
    },
  };
}

interface ScopeParts {
  scopeId: string;
  call: CallContext;
  capabilities: MemoryCapabilities;
  index: TextIndex;
}

class IndexedScope implements MemoryScope {
  readonly #parts: ScopeParts;
  #facts: Fact[] = [];
  #disposed = false;
  /** Ends when the last write so far has ended; never rejects. Writes take turns, so that positions and facts agree. */
  #written: Promise<void> = Promise.resolve();

  constructor(parts: ScopeParts) {
    this.#parts = parts;
  }

  write(facts: readonly Fact[]): Promise<void> {
    const turn = this.#written.then(async () => {
      this.#check();
      await this.#parts.index.add(facts.map((fact) => fact.text));
      this.#check();
      if (this.#parts.capabilities.stores) this.#facts.push(...facts);
    });
    this.#written = turn.catch(() => {});
    return turn;
  }

  async ready(signal: AbortSignal): Promise<void> {
    await abortable(this.#written, signal);
    this.#check();
  }

  async search(query: string, k: number): Promise<Recall> {
    if (!Number.isInteger(k) || k < 1) throw new RangeError(`k is a positive whole number, got ${k}`);
    await this.#written;
    this.#check();
    const hits = await this.#parts.index.search(query, k);
    this.#check();
    const requested = this.#parts.capabilities.honours_k ? { requested_k: k } : {};
    return { query, ...requested, items: hits.map((hit) => this.#recalled(hit)) };
  }

  async list(): Promise<StoredItem[]> {
    await this.#written;
    this.#check();
    return this.#facts.map((fact) => ({ text: fact.text, fact_ids: [fact.id] }));
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#facts = [];
  }

  #recalled({ position, score }: Hit): RecallItem {
    const fact = this.#facts[position];
    if (!fact) throw new Error(`the index names text ${position}, and ${this.#facts.length} are stored`);
    return { text: fact.text, fact_ids: [fact.id], ...(score === undefined ? {} : { score }) };
  }

  #check(): void {
    if (this.#disposed) throw misuse(`memory scope "${this.#parts.scopeId}" was disposed`);
    this.#parts.call.signal.throwIfAborted();
  }
}

function misuse(message: string): HeamsError {
  return new HeamsError(message, { code: 'memory_closed', hint: 'open a new one: it starts empty' });
}
