import type { Json } from '../schema/json.ts';
import type { Fact, Recall, Reply, StoredItem, Turn } from '../schema/record.ts';
import type { Labels } from './agent.ts';
import type { CallContext } from './call.ts';

/** One scenario, ready to run. `T` is what the benchmark needs to grade it. */
export interface Sample<T = unknown> {
  id: string;
  cluster: string;
  /** Hash of everything in the sample that can change an outcome. */
  hash: string;
  task: string;
  /** In the order they are written to a memory. */
  facts: readonly Fact[];
  tags: Readonly<Record<string, string>>;
  /** How many things of each kind are judged in it (CI: `secrets`, `fields`), so that a failed sample's are counted too. */
  toJudge?: Readonly<Record<string, number>>;
  data: T;
}

export interface LoadedSamples<T = unknown> {
  samples: Sample<T>[];
  /** Where they came from, for the run folder: repository, revision, sha256, rows. */
  source: { [key: string]: Json };
}

export interface GradeInput<T = unknown> {
  sample: Sample<T>;
  reply: Reply;
  stored: readonly StoredItem[];
  recalls: readonly Recall[];
  /** Whether the backend's items name their facts. */
  provenance: boolean;
  /** The grade that this reply has already, where it was recorded: what it answers need not be asked again. */
  earlier?: Json;
  call: CallContext;
}

export interface Benchmark<T = unknown> {
  readonly name: string;
  loadSamples(signal: AbortSignal): Promise<LoadedSamples<T>>;
  turns(sample: Sample<T>): Turn[];
  /** Values of the template variables that agents may use. */
  variables(sample: Sample<T>): Record<string, string>;
  labels(sample: Sample<T>): Labels;
  /** A verdict for everything that is to be judged. Throws only when a judge could not be reached at all. */
  grade(input: GradeInput<T>): Promise<Json>;
  /** One running rate to show while a run is under way, from one grade: hits out of what was judged. */
  headline(grade: Json): { hits: number; of: number };
  /** What `headline` counts, in a word or two: "leakage". */
  readonly headlineName: string;
  /** What grading one sample will ask of each judge model, for a plan. */
  plannedCalls(sample: Sample<T>): { modelId: string; calls: number; inputTokens: number; outputTokens: number }[];
}
