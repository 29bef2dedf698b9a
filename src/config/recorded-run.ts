import type { Benchmark } from '../contracts/benchmark.ts';
import type { BenchmarkPlugin, PluginContext } from '../contracts/plugin.ts';
import { type RunFile, runFileSchema } from '../schema/run-file.ts';
import { pick, type Registry } from './registry.ts';
import type { Arm, Component } from './run.ts';
import { validate } from './validate.ts';

/** What a command says about how a run is done. */
export interface Pace {
  concurrency?: number;
  maxCostUsd?: number;
}

/** The settings of a run that is put together by a command, with the defaults of a run file. */
export function composedSettings(name: string, own: { seed: number; repeats: number }, pace: Pace): RunFile {
  const { concurrency, maxCostUsd } = pace;
  return runFileSchema.parse({
    name,
    // The components are given beside the settings; what stands here is not looked at.
    benchmark: {},
    experiments: [{ name: 'arm', agent: {}, memory: {} }],
    ...own,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(maxCostUsd === undefined ? {} : { budget: { max_cost_usd: maxCostUsd } }),
  });
}

/** A component out of options instead of a file. `file` is what errors name, and where relative paths start. */
async function component<P extends Component['plugin']>(
  plugin: P,
  options: { name: string } & Record<string, unknown>,
  file: string,
): Promise<Component<P>> {
  const where = () => ({ file });
  const source = { path: file, data: options, where, whereKey: where, whereText: where };
  return { name: options.name, plugin, options: validate(plugin.schema, options, source), file, where };
}

export interface RecordedArm {
  name: string;
  /** The file that the arm's messages are in. */
  file: string;
  agent: { name: string } & Record<string, unknown>;
  memory: { name: string } & Record<string, unknown>;
  /** What the arm was defended by; absent where by nothing. */
  defence?: { name: string } & Record<string, unknown>;
}

/** An arm that says what was recorded. */
export async function recordedArm(
  { name, file, agent, memory, defence }: RecordedArm,
  registry: Registry,
): Promise<Arm> {
  const at = { file };
  const agents = await pick('kind', registry.agents, 'recorded', at);
  const memories = await pick('backend', registry.memories, 'recorded', at);
  const defences = defence && (await pick('defence', registry.defences, 'recorded', at));
  return {
    name,
    agent: await component(agents, { ...agent, kind: 'recorded' }, file),
    memory: await component(memories, { ...memory, backend: 'recorded' }, file),
    ...(defence && defences ? { defence: await component(defences, { ...defence, defence: 'recorded' }, file) } : {}),
  };
}

/** The benchmark with something done to it once it is made: everything else about the component stays as it is. */
export function wrapped(
  benchmark: Component<BenchmarkPlugin>,
  wrap: (made: Benchmark) => Benchmark,
): Component<BenchmarkPlugin> {
  const { plugin } = benchmark;
  const create = async (options: unknown, context: PluginContext) => wrap(await plugin.create(options, context));
  return { ...benchmark, plugin: { ...plugin, create } };
}
