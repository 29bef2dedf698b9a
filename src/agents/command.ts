import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import type { Env } from '../lib/env-references.ts';
import { HeamsError } from '../lib/errors.ts';
import { minimumEnv } from '../lib/program-env.ts';
import { redactor } from '../models/redact.ts';
import { namingShape } from '../schema/naming.ts';
import { CommandPool } from './command-pool.ts';
import { remoteAgent } from './remote-agent.ts';
import { remoteIdentity, remoteShape, toolLimitRule, variableUses } from './remote-options.ts';

const schema = z
  .strictObject({
    ...namingShape,
    kind: z.literal('command'),
    /** A program on the PATH, or a path from `cwd`. */
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    /** The folder it runs in, from the agent file's own. */
    cwd: z.string().min(1).default('.'),
    /** Environment variables that it is given, by name, beside the few that every program needs. */
    env: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, not a value'))
      .default([]),
    ...remoteShape,
    /** Processes of the program. */
    workers: z.int().positive().max(256).default(1),
    /** Requests that one process may have open at once: more than 1 for a program that answers out of turn. */
    requests_per_worker: z.int().positive().max(4096).default(1),
  })
  .refine(toolLimitRule.check, toolLimitRule.error);
export type CommandOptions = z.infer<typeof schema>;

/** An agent that is a program: it reads requests from its stdin, a line each, and writes replies to its stdout. */
export const command: AgentPlugin<CommandOptions> = {
  name: 'command',
  summary: 'an agent that is a program and speaks the agent protocol on stdin and stdout, in any language',
  needs: 'the program',
  schema,
  // Not `cwd`: the same program elsewhere is the same. What it does is its own matter; `version` says when that changes.
  identity: (options) => ({ ...remoteIdentity(options), command: options.command, args: options.args }),
  inlined: (options, resolve) => ({ ...options, cwd: resolve(options.cwd) }),
  templates: variableUses,
  requires: (options) => [
    { kind: 'program', name: options.command, path: ['command'] },
    ...options.env.map((name, i) => ({
      kind: 'variable' as const,
      name,
      path: ['env', i],
      role: 'the program of an agent',
    })),
  ],
  async create(options, { clock, env, resolve }) {
    const { name = 'command', args, timeout_s: timeoutS, workers, requests_per_worker: requestsPerWorker } = options;
    const given = named(options.env, env);
    const redact = redactor(Object.values(given));
    const transport = new CommandPool({
      name,
      command: options.command,
      args,
      cwd: resolve(options.cwd),
      env: { ...minimumEnv(env), ...given },
      workers,
      requestsPerWorker,
      timeoutS,
      clock,
      redact,
    });
    return remoteAgent({ name, options, transport, redact, clock, needsNetwork: false });
  },
};

function named(names: readonly string[], env: Env): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const value = env[name];
      if (value !== undefined) return [name, value];
      throw new HeamsError(`${name} is not set, and the program of an agent needs it`, {
        code: 'missing_variable',
        expected: `${name} in the environment or in a .env file here`,
        found: 'nothing',
        hint: `set ${name}`,
      });
    }),
  );
}
