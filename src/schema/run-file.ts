import { z } from 'zod';

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, ".", "_" and "-", starting with a letter or digit')
  .max(100);

export const budgetSchema = z.strictObject({
  max_cost_usd: z.number().positive().optional(),
  max_tokens: z.int().positive().optional(),
  max_calls: z.int().positive().optional(),
});
export type BudgetLimits = z.infer<typeof budgetSchema>;

const experimentSchema = z.strictObject({
  name,
  agent_config_file: z.string().min(1),
  memory_config_file: z.string().min(1),
});

const matrixSchema = z.strictObject({
  agents: z.array(z.string().min(1)).min(1),
  memories: z.array(z.string().min(1)).min(1),
});

/** A run config file: which benchmark, which arms, how much at once and how much at most. */
export const runFileSchema = z.strictObject({
  name,
  description: z.string().optional(),
  benchmark_config_file: z.string().min(1),
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
  memory_ready_timeout_s: z.number().positive().default(60),
  experiments: z.array(experimentSchema).min(1).optional(),
  matrix: matrixSchema.optional(),
});
export type RunFile = z.infer<typeof runFileSchema>;
