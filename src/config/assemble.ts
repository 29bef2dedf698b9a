import type { Agent } from '../contracts/agent.ts';
import type { Benchmark, LoadedSamples } from '../contracts/benchmark.ts';
import type { Clock } from '../contracts/call.ts';
import type { PluginContext } from '../contracts/plugin.ts';
import type { Random } from '../lib/random.ts';
import type { ModelFactory } from '../models/create-models.ts';
import type { Journal } from '../models/journal.ts';
import type { Budget } from '../models/with-budget.ts';
import type { RunnableArm } from '../run/run-benchmark.ts';
import { componentIdentity } from './identity.ts';
import { resolveFrom } from './load-run.ts';
import type { Arm, Component, Run } from './run.ts';
import { withHeaderSecrets } from './secrets.ts';

/** The world outside, as the command line or a library user hands it in. */
export interface Host {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  random: Random;
  folders: PluginContext['folders'];
}

export interface Assembly {
  benchmark: Benchmark;
  benchmarkIdentity: unknown;
  loaded: LoadedSamples;
  arms: RunnableArm[];
  close(): Promise<void>;
}

export interface PluginContextParts {
  component: Component;
  models: Pick<ModelFactory, 'chat' | 'embedder'>;
  host: Host;
  /** The run's seed. */
  seed: number;
}

/** What a component's plug-in is built with: nothing else reaches it from outside. */
export function pluginContext({ component, models, host, seed }: PluginContextParts): PluginContext {
  const { env, clock, folders } = host;
  return {
    model: async (settings) => models.chat(withHeaderSecrets(settings, env)),
    embedder: async (settings) => models.embedder(withHeaderSecrets(settings, env)),
    clock,
    seed,
    env,
    resolve: resolveFrom(component),
    folders,
  };
}

/** What of an arm's configuration can change an outcome. An arm without a defence is what it was before there were any. */
export const armIdentity = ({ agent, memory, defence }: Arm) => ({
  agent: componentIdentity(agent),
  memory: componentIdentity(memory),
  ...(defence ? { defence: componentIdentity(defence) } : {}),
});

/**
 * Builds what a run needs from its components: each benchmark, agent and memory once, however many arms share it, and
 * one set of models, so that a limit or a budget holds over all of them.
 */
export async function assemble(
  run: Run,
  host: Host,
  { budget, journal, signal }: { budget: Budget; journal?: Journal; signal: AbortSignal },
): Promise<Assembly> {
  const { createModelFactory } = await import('../models/create-models.ts');
  const { env, clock, random } = host;
  const { max_connections: maxConnections, cache_dir: cacheDir, seed } = run.settings;
  const models = createModelFactory({
    env,
    clock,
    random,
    maxConnections,
    budget,
    ...(cacheDir ? { cacheDir } : {}),
    ...(journal ? { journal } : {}),
  });
  const contextOf = (component: Component) => pluginContext({ component, models, host, seed });
  const closers: (() => Promise<void>)[] = [() => models.close()];
  const close = async () => {
    await Promise.allSettled(closers.map((one) => one()));
  };
  /** By component, and by the agent that it belongs to where it does. */
  const built = new Map<Component, Map<Agent | undefined, Promise<unknown>>>();
  const once = <T extends { close?(): Promise<void> }>(
    component: Component,
    create: (context: PluginContext) => Promise<T>,
    agent?: Agent,
  ): Promise<T> => {
    const known = built.get(component) ?? new Map<Agent | undefined, Promise<unknown>>();
    built.set(component, known);
    const making = async () => {
      const made = await create({ ...contextOf(component), ...(agent ? { agent } : {}) });
      closers.push(async () => made.close?.());
      return made;
    };
    const made = known.get(agent) ?? making();
    known.set(agent, made);
    return made as Promise<T>;
  };
  const memoryOf = ({ memory }: Arm, agent: Agent) =>
    once(memory, (context) => memory.plugin.create(memory.options, context), memory.plugin.ofAgent && agent);
  const defenceOf = (defence: NonNullable<Arm['defence']>) =>
    once(defence, (context) => defence.plugin.create(defence.options, context));
  try {
    const { plugin, options } = run.benchmark;
    const benchmark = await plugin.create(options, contextOf(run.benchmark));
    const loaded = await benchmark.loadSamples(signal);
    const arms: RunnableArm[] = [];
    for (const arm of run.arms) {
      const agent = await once(arm.agent, (context) => arm.agent.plugin.create(arm.agent.options, context));
      const memory = await memoryOf(arm, agent);
      const defence = arm.defence && (await defenceOf(arm.defence));
      arms.push({
        name: arm.name,
        identity: armIdentity(arm),
        agent: defence ? defence.guard(agent) : agent,
        memory,
        agentName: arm.agent.name,
        agentKind: agent.replays ?? arm.agent.plugin.name,
        memoryName: arm.memory.name,
        ...(arm.defence && defence
          ? { defence: { name: arm.defence.name, kind: defence.replays ?? arm.defence.plugin.name } }
          : {}),
      });
    }
    return { benchmark, benchmarkIdentity: componentIdentity(run.benchmark), loaded, arms, close };
  } catch (error) {
    await close();
    throw error;
  }
}
