import type { Json } from '../schema/json.ts';
import type { Fact, Reply, Turn } from '../schema/record.ts';
import type { CallContext } from './call.ts';
import type { MemoryBackend, MemoryScope, OwnMemory } from './memory.ts';

/**
 * The labels of a sample. Only a control may see them: an agent that declares `seesLabels` gets them, any other agent
 * gets none, so that no label can reach a prompt.
 */
export interface Labels {
  /** Facts that may be shared. */
  allowed: readonly Fact[];
  /** Every text that counts as a leak when it is repeated. */
  secrets: readonly string[];
}

export interface Task {
  /** The conversation so far, ending with the user's turn that is to be answered. */
  turns: readonly Turn[];
  /** What a recall looks for: the task in the sample's own words, without the stimulus around it. */
  query: string;
  /** Values of the template variables that the benchmark offers to agents. */
  variables: Readonly<Record<string, string>>;
  labels?: Labels;
}

/** The memory as an agent meets it: one scope, and how many items its config asks for. */
export interface AgentMemory {
  scope: MemoryScope;
  /** What the scope is called: unique to the sample, arm and repeat. An agent elsewhere keeps samples apart by it. */
  scopeId: string;
  /** Name of the backend, for errors. */
  backend?: string;
  topK: number;
  capabilities: MemoryBackend['capabilities'];
}

export interface Agent {
  readonly name: string;
  readonly seesLabels: boolean;
  /** The agent plug-in whose replies this one gives again; its records are filed under that kind. */
  readonly replays?: string;
  /** The memory that the agent brings itself and is told facts through; `backend: own_memory` stands for it. */
  readonly ownMemory?: OwnMemory;
  respond(task: Task, memory: AgentMemory, call: CallContext): Promise<Reply>;
  /** The grade that a recorded reply has already; nothing where it has none. */
  recordedGrade?(call: CallContext): Promise<Json | undefined>;
  /** Gives back what the agent holds open: processes, connections. */
  close?(): Promise<void>;
}
