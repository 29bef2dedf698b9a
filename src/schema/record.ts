import { z } from 'zod';
import { json } from './json.ts';
import { usageSchema } from './usage.ts';

/** One `key: value` of the information pool. `text` is what a memory is primed with. */
export const factSchema = z.strictObject({
  id: z.string(),
  key: z.string(),
  text: z.string(),
  /** When it was told, ISO 8601 in UTC; absent where a pool has no times. */
  at: z.iso.datetime().exactOptional(),
  /** The conversation it was told in; facts of one session follow each other. */
  session: z.string().exactOptional(),
  /** Taken from another sample, to make the pool larger: nothing of it is judged. */
  distractor: z.literal(true).exactOptional(),
});
export type Fact = z.infer<typeof factSchema>;

/** What the backend holds after priming. `fact_ids` is empty where a backend does not keep provenance. */
export const storedItemSchema = z.strictObject({ text: z.string(), fact_ids: z.array(z.string()) });
export type StoredItem = z.infer<typeof storedItemSchema>;

export const recallItemSchema = z.strictObject({
  text: z.string(),
  fact_ids: z.array(z.string()),
  score: z.number().optional(),
  /** A defence has changed the text, so that what it says of its facts is told by the text alone. */
  rewritten: z.literal(true).exactOptional(),
});
export type RecallItem = z.infer<typeof recallItemSchema>;

/** What one search gave back. `requested_k` is absent where the backend returns everything it holds. */
export const recallSchema = z.strictObject({
  query: z.string(),
  requested_k: z.int().positive().optional(),
  items: z.array(recallItemSchema),
  /** What the memory found and a defence kept back: it did not reach the agent, or not as it was. */
  withheld: z.array(recallItemSchema).exactOptional(),
  raw: json.optional(),
});
export type Recall = z.infer<typeof recallSchema>;

export const turnSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
});
export type Turn = z.infer<typeof turnSchema>;

export const toolCallSchema = z.strictObject({ name: z.string(), input: json, output: z.string() });
export type ToolCall = z.infer<typeof toolCallSchema>;

/** What the agent produced: the message that is graded, and everything that led to it. */
export const replySchema = z.strictObject({
  message: z.string(),
  /** The prompt as the model saw it on its first call; empty for the controls. */
  prompt: z.array(turnSchema),
  recalls: z.array(recallSchema),
  tool_calls: z.array(toolCallSchema),
  /** What the agent thought before it answered, where that can be told from the message; it is not sent. */
  reasoning: z.string().exactOptional(),
  /** The agent's own message, where a defence may have changed it before it was sent. */
  draft: z.string().exactOptional(),
  finish_reason: z.string().optional(),
  /** The model as the provider names it in its reply. */
  model_version: z.string().optional(),
  warnings: z.array(z.string()),
  /**
   * Set where the message came from another system: what that system's memory held is not known, and what it recalled
   * only where the message came with its recalls.
   */
  external: z.strictObject({ recalls_known: z.boolean() }).exactOptional(),
});
export type Reply = z.infer<typeof replySchema>;

export const failureStages = ['memory', 'prime', 'agent', 'judge', 'dispose'] as const;
export const failureSchema = z.strictObject({
  stage: z.enum(failureStages),
  code: z.string(),
  message: z.string(),
});
export type Failure = z.infer<typeof failureSchema>;
export type FailureStage = Failure['stage'];

const milliseconds = z.number().nonnegative();

const common = {
  version: z.literal(1),
  key: z.string().regex(/^[0-9a-f]{8,64}$/, 'hex digits'),
  run_id: z.string(),
  benchmark: z.string(),
  experiment: z.string(),
  agent: z.string(),
  /** Name of the agent plug-in, so that a control is known as one whatever its config is called. */
  agent_kind: z.string(),
  memory: z.string(),
  /** Name of the memory backend plug-in, for grouping arms. */
  backend: z.string(),
  /** Name of the defence config, and of the defence plug-in; absent where an arm has none. */
  defence: z.string().exactOptional(),
  defence_kind: z.string().exactOptional(),
  sample_id: z.string(),
  /** Samples that are not independent of each other share a cluster (CI: the seed). */
  cluster: z.string(),
  repeat: z.int().nonnegative(),
  task: z.string(),
  /** Benchmark-owned facts about the sample to break results down by. */
  tags: z.record(z.string(), z.string()),
  facts: z.array(factSchema),
  /** How many things of each kind the benchmark judges in this sample: known even where the sample fails. */
  to_judge: z.record(z.string(), z.int().nonnegative()).optional(),
  stored: z.array(storedItemSchema).optional(),
  reply: replySchema.optional(),
  usage: usageSchema,
  timings: z.strictObject({
    started_at: z.string(),
    prime_ms: milliseconds.optional(),
    agent_ms: milliseconds.optional(),
    judge_ms: milliseconds.optional(),
    total_ms: milliseconds,
  }),
  versions: z.strictObject({ heams: z.string(), node: z.string() }),
};

/**
 * Everything about one sample in one arm and repeat: one line of `runs.jsonl`. `grade` is the benchmark's own
 * shape, parsed by its schema; a failed record has no grade, so that nothing can average it in.
 * `status` and `key` come early in the line so that an index of a large file need not parse it.
 */
export const recordSchema = z.discriminatedUnion('status', [
  z.strictObject({ ...common, status: z.literal('done'), grade: json }),
  z.strictObject({ ...common, status: z.literal('failed'), error: failureSchema }),
]);
export type SampleRecord = z.infer<typeof recordSchema>;
export type DoneRecord = Extract<SampleRecord, { status: 'done' }>;
export type FailedRecord = Extract<SampleRecord, { status: 'failed' }>;

export const runStatusSchema = z.strictObject({
  version: z.literal(1),
  run_id: z.string(),
  experiment: z.string(),
  state: z.enum(['running', 'done', 'done_with_failures', 'stopped']),
  /** Why a run stopped before its plan was finished. */
  stop_reason: z.enum(['interrupted', 'budget', 'failure_limit', 'refused', 'error']).optional(),
  stop_message: z.string().optional(),
  planned: z.int().nonnegative(),
  done: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  fingerprint: z.string(),
  started_at: z.string(),
  updated_at: z.string(),
});
export type RunStatus = z.infer<typeof runStatusSchema>;
