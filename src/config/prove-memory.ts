import type { MemoryPlugin } from '../contracts/plugin.ts';
import { addCounts } from '../lib/add-counts.ts';
import { HeamsError } from '../lib/errors.ts';
import { type IsolationOptions, proveIsolation } from '../run/isolation.ts';
import type { IsolationResult } from '../run/isolation-log.ts';
import { emptyStageUsage, type StageUsage } from '../schema/usage.ts';
import { type Host, pluginContext } from './assemble.ts';
import { checkModels, modelUses } from './check-models.ts';
import { checkRequirements } from './check-requirements.ts';
import type { Component } from './run.ts';

export interface ProveOptions extends Omit<IsolationOptions, 'clock' | 'meter'> {
  host: Host;
  /** Stop before spending more than this. */
  maxCostUsd?: number;
}

export interface ProvenMemory {
  result: IsolationResult;
  /** What the memory's models were asked for it. */
  usage: StageUsage;
}

/**
 * Proves that a memory keeps its scopes apart, with its models and what else it needs checked as before a run.
 *
 * @throws HeamsError for whatever keeps it from starting, and for a memory that nobody but its agent can search.
 */
export async function proveMemory(
  component: Component<MemoryPlugin>,
  { host, maxCostUsd, ...options }: ProveOptions,
): Promise<ProvenMemory> {
  const { plugin } = component;
  if (plugin.ofAgent) throw unseen(component);
  const limits = maxCostUsd === undefined ? {} : { max_cost_usd: maxCostUsd };
  checkModels([component], host.env);
  checkRequirements([component], host.env);
  const { checkBudget, createBudget } = await import('../models/with-budget.ts');
  checkBudget(
    modelUses([component]).map(({ settings }) => settings),
    limits,
  );
  const { createModelFactory } = await import('../models/create-models.ts');
  const { env, clock, random } = host;
  const budget = createBudget(limits);
  const models = createModelFactory({ env, clock, random, maxConnections: options.concurrency, budget });
  const usage = emptyStageUsage();
  const meter = { add: (_stage: string, spent: Partial<StageUsage>) => addCounts(usage, spent) };
  try {
    const context = pluginContext({ component, models, host, seed: 0 });
    const make = () => plugin.create(component.options, context);
    return { result: await proveIsolation(make, { ...options, clock, meter }), usage };
  } finally {
    await models.close();
  }
}

function unseen({ plugin, where }: Component<MemoryPlugin>): HeamsError {
  return new HeamsError(`nobody but the agent can search "${plugin.name}", so its isolation cannot be seen`, {
    code: 'isolation_unseen',
    where: where(['backend']),
    hint: "an agent's own memory is kept apart by the conversation id that the agent is given: see docs/agents.md",
  });
}
