import { z } from 'zod';
import type { TemplateUse } from '../contracts/plugin.ts';

/** What the agent files of every kind that runs outside of HEAMS have in common. */
export const remoteShape = {
  /**
   * `none`: HEAMS gives the agent no memory; it may have its own. `inject`: one search for the task, its items go
   * along. `tool`: the agent may ask for searches.
   */
  memory_strategy: z.enum(['none', 'inject', 'tool']),
  /** With `tool` alone: how many calls it may ask for before it must answer; 8 by default. */
  max_tool_calls: z.int().positive().optional(),
  /** Variables of the sample that the agent is told; none by default, as they say more than a user would. */
  variables: z.array(z.string().min(1)).default([]),
  /** The agent's own version, which HEAMS cannot see: another one makes another run. */
  version: z.string().min(1).optional(),
  /** Deadline of one request, in seconds. */
  timeout_s: z.number().positive().max(86_400).default(120),
} as const;

const shape = z.strictObject(remoteShape);
export type RemoteOptions = z.infer<typeof shape>;

/** `max_tool_calls` where no tool may be called has no effect, and is refused. */
export const toolLimitRule = {
  check: (options: RemoteOptions) => options.max_tool_calls === undefined || options.memory_strategy === 'tool',
  error: { path: ['max_tool_calls'], error: 'max_tool_calls needs memory_strategy: tool' },
};

/** Each variable as the smallest template, so that one that the benchmark does not offer is found with its place. */
export function variableUses({ variables }: RemoteOptions, offered: readonly string[]): TemplateUse[] {
  return variables.map((name, i) => ({ path: ['variables', i], source: `{{ ${name} }}`, variables: offered }));
}

/** What of these options can change an outcome. */
export function remoteIdentity({ memory_strategy, max_tool_calls, variables, version }: RemoteOptions) {
  return {
    memory_strategy,
    ...(max_tool_calls === undefined ? {} : { max_tool_calls }),
    ...(variables.length === 0 ? {} : { variables }),
    ...(version === undefined ? {} : { version }),
  };
}
