import type { Fact, Recall, StoredItem } from '../schema/record.ts';
import type { CallContext } from './call.ts';

/** What a backend is, declared so that reports and planners need not guess. */
export interface MemoryCapabilities {
  /** False for the floor arm, which keeps nothing by design. */
  stores: boolean;
  /** The system rewrites facts, so what is read back need not be what was written. */
  rewrites: boolean;
  /** Stored and recalled items name the facts they came from. */
  provenance: boolean;
  /** False where a search returns everything, whatever k. */
  honours_k: boolean;
  needs_network: boolean;
  needs_key: boolean;
  /** Another system's memory: nothing is known of what it holds, so records say nothing of it. */
  external?: true;
  /** Scopes that may be open at once; absent where there is no limit. */
  max_concurrency?: number;
}

/** The isolated memory of one sample in one arm and repeat. */
export interface MemoryScope {
  write(facts: readonly Fact[]): Promise<void>;
  /** Resolves once all that was written can be found; rejects when `signal` aborts. Never resolves early. */
  ready(signal: AbortSignal): Promise<void>;
  /** At most `k` items, best first. A backend that does not honour k returns all and leaves `requested_k` out. */
  search(query: string, k: number): Promise<Recall>;
  list(): Promise<StoredItem[]>;
  /** Forgets everything. The scope must not be used afterwards. */
  dispose(): Promise<void>;
}

export interface MemoryBackend {
  readonly name: string;
  readonly capabilities: MemoryCapabilities;
  /** How many items an agent asks for unless it says otherwise (`top_k`). */
  readonly topK: number;
  /** A fresh, empty scope; `scopeId` is unique to the sample, arm and repeat. */
  open(scopeId: string, call: CallContext): Promise<MemoryScope>;
  close(): Promise<void>;
}
