import type { Json } from '../schema/json.ts';
import type { Fact, Recall, StoredItem } from '../schema/record.ts';
import type { CallContext } from './call.ts';
import type { ToolSpec } from './model.ts';

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

/** What a call of a memory's tool gives: the text that the model reads, and what it got to know by it. */
export interface ToolAnswer {
  content: string;
  /** Absent where the call showed nothing that the memory holds: a note was written, or the input made no sense. */
  recall?: Recall;
}

/** A tool that a memory hands to the agent in place of HEAMS's own search. */
export interface MemoryTool {
  spec: ToolSpec;
  /** Input that makes no sense is answered in words; a memory that fails rejects. */
  run(input: Json): Promise<ToolAnswer>;
}

/** The isolated memory of one sample in one arm and repeat. */
export interface MemoryScope {
  write(facts: readonly Fact[]): Promise<void>;
  /** Resolves once all that was written can be found; rejects when `signal` aborts. Never resolves early. */
  ready(signal: AbortSignal): Promise<void>;
  /** At most `k` items, best first. A backend that does not honour k returns all and leaves `requested_k` out. */
  search(query: string, k: number): Promise<Recall>;
  list(): Promise<StoredItem[]>;
  /** The backend's own tools, for an agent that may use tools; absent where `search` is all there is. */
  readonly tools?: readonly MemoryTool[];
  /**
   * Forgets everything, and rejects unless the system, asked again, holds nothing of the scope: what stays behind
   * would be somebody else's memory. The scope must not be used afterwards; a second call is fine.
   */
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

/** An agent's own memory, as a backend: to write is to tell the agent, and nobody but the agent can search it. */
export type OwnMemory = (options: OwnMemoryOptions) => MemoryBackend;

export interface OwnMemoryOptions {
  /** The user's turn that tells facts, rendered for them. */
  telling(facts: readonly Fact[]): string;
  /** `fact`: one turn for each fact; `session`: one for all facts of a session. */
  each: 'fact' | 'session';
}
