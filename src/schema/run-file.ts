import { z } from 'zod';
import { json } from './json.ts';

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, ".", "_" and "-", starting with a letter or digit')
  .max(100);

/** Node's timers hold 24 days; a longer one goes off at once. */
const MOST_TIMEOUT_S = 1_000_000;

export const budgetSchema = z.strictObject({
  max_cost_usd: z.number().positive().optional(),
  max_tokens: z.int().positive().optional(),
  max_calls: z.int().positive().optional(),
});
export type BudgetLimits = z.infer<typeof budgetSchema>;

/** A component written out in place of its file, as the run config in a results folder has it. */
const inline = z.record(z.string(), z.unknown());
const file = z.string().min(1);

const experimentSchema = z
  .strictObject({
    name,
    agent_config_file: file.optional(),
    agent: inline.optional(),
    memory_config_file: file.optional(),
    memory: inline.optional(),
    defence_config_file: file.optional(),
    defence: inline.optional(),
  })
  .refine(
    (arm) => (arm.agent_config_file === undefined) !== (arm.agent === undefined),
    'either agent_config_file or agent',
  )
  .refine(
    (arm) => (arm.memory_config_file === undefined) !== (arm.memory === undefined),
    'either memory_config_file or memory',
  )
  .refine((arm) => arm.defence_config_file === undefined || arm.defence === undefined, {
    error: 'either defence_config_file or defence, or neither',
  });

/** What HEAMS notes about a run in the config that it writes beside the results. */
const writtenSchema = z.strictObject({
  run_id: z.string(),
  version: z.string(),
  created_at: z.string(),
  fingerprint: z.string(),
  /** Where the samples came from: repository, revision, sha256, rows. */
  dataset: z.record(z.string(), json),
  /** The part of the samples that was run: `3/8`; absent where all were. */
  shard: z.string().exactOptional(),
});
export type WrittenNote = z.infer<typeof writtenSchema>;

const matrixSchema = z.strictObject({
  agents: z.array(z.string().min(1)).min(1),
  memories: z.array(z.string().min(1)).min(1),
  /** Each over every agent and memory; `none` stands for no defence. */
  defences: z.array(z.string().min(1)).min(1).optional(),
});

/** A run config file: which benchmark, which arms, how much at once and how much at most. */
export const runFileSchema = z
  .strictObject({
    name,
    description: z.string().optional(),
    benchmark_config_file: file.optional(),
    benchmark: inline.optional(),
    seed: z.int().default(0),
    repeats: z.int().positive().default(1),
    /** Samples in flight at once, over all arms. */
    concurrency: z.int().positive().max(4096).default(16),
    /** Requests in flight at once to one provider and account. */
    max_connections: z.int().positive().max(4096).default(64),
    budget: budgetSchema.default({}),
    /** Stop the run after this many failed samples. */
    max_failures: z.int().positive().optional(),
    /** Folder of the response cache; off when absent. */
    cache_dir: z.string().min(1).optional(),
    /** Deadline for a memory to become readable after writing, in seconds. */
    memory_ready_timeout_s: z.number().positive().max(MOST_TIMEOUT_S).default(60),
    /** Deadline for any other answer of a memory (open, write, list, search, dispose), in seconds. */
    memory_timeout_s: z.number().positive().max(MOST_TIMEOUT_S).default(300),
    /** Adds an arm for each control that needs no model: `control-silent`, `-dump`, `-oracle`, `-redacted`. */
    controls: z.boolean().default(false),
    experiments: z.array(experimentSchema).min(1).optional(),
    matrix: matrixSchema.optional(),
    heams: writtenSchema.optional(),
  })
  .refine(
    (run) => (run.benchmark_config_file === undefined) !== (run.benchmark === undefined),
    'either benchmark_config_file or benchmark',
  )
  .refine((run) => (run.experiments === undefined) !== (run.matrix === undefined), 'either experiments or matrix');
export type RunFile = z.infer<typeof runFileSchema>;
