import { z } from 'zod';

/**
 * How to reach one model. Agent files, evaluator blocks and embedding options all spread this shape,
 * so that a setting is spelled the same wherever a model is named.
 */
export const modelSettingsShape = {
  /** Root of the API, for a proxy or a local server. */
  base_url: z.url().optional(),
  /** Name of the environment variable that holds the key. */
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, not the key itself')
    .optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: z.int().positive().optional(),
  /** Sampling seed, where the provider has one. */
  seed: z.int().optional(),
  /** Deadline of one attempt, in seconds. */
  timeout_s: z.number().positive().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Requests in flight at once for this provider and account; the run's `max_connections` otherwise. */
  max_connections: z.int().positive().optional(),
  /** Whether the server takes a JSON schema; set it to false for a local server that rejects one. */
  structured_output: z.boolean().optional(),
} as const;

const settings = z.strictObject({ model_id: z.string().min(1), ...modelSettingsShape });

export type ModelSettings = z.infer<typeof settings>;

/** Picks the model settings out of a larger options object. */
export function modelSettings(modelId: string, options: Partial<Omit<ModelSettings, 'model_id'>>): ModelSettings {
  const picked: Record<string, unknown> = { model_id: modelId };
  for (const key of Object.keys(modelSettingsShape) as (keyof typeof modelSettingsShape)[]) {
    if (options[key] !== undefined) picked[key] = options[key];
  }
  return picked as ModelSettings;
}

/** Settings that say how a call travels, not what is asked: they cannot change an answer. */
const transportKeys = ['timeout_s', 'max_connections', 'api_key_env', 'headers'] as const;
const labelKeys = ['name', 'description'] as const;

/** What of a config can change an outcome: all but names and transport settings. */
export function outcomeShaping(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const dropped: readonly string[] = [...transportKeys, ...labelKeys];
  return Object.fromEntries(Object.entries(options).filter(([key]) => !dropped.includes(key)));
}
