import type {
  AgentPlugin,
  BenchmarkPlugin,
  DefencePlugin,
  MemoryPlugin,
  Path,
  PluginBase,
} from '../contracts/plugin.ts';
import type { Where } from '../lib/errors.ts';
import type { RunFile } from '../schema/run-file.ts';

/** A component file, checked: its plug-in, its options, and where each of them stands. */
export interface Component<P extends PluginBase<unknown> = PluginBase<unknown>> {
  name: string;
  plugin: P;
  options: unknown;
  /** The file it came from; relative paths in it start there. */
  file: string;
  where(path: Path): Where;
}

export interface Arm {
  name: string;
  agent: Component<AgentPlugin>;
  memory: Component<MemoryPlugin>;
  /** Stands between the agent and the world; absent for an undefended arm. */
  defence?: Component<DefencePlugin>;
}

/** Everything that a run needs to know, read and checked; nothing else is read later. */
export interface Run {
  file: string;
  settings: RunFile;
  benchmark: Component<BenchmarkPlugin>;
  arms: readonly Arm[];
}

/** What is checked before anything is built: the parts of a run, or components that stand by themselves. */
export type Parts = Pick<Run, 'benchmark' | 'arms'> | readonly Component[];

const isList = (parts: Parts): parts is readonly Component[] => Array.isArray(parts);

/** Every component once, however many arms share it. */
export function components(parts: Parts): Component[] {
  if (isList(parts)) return [...new Set(parts)];
  const ofArm = ({ agent, memory, defence }: Arm): Component[] => [agent, memory, ...(defence ? [defence] : [])];
  return [...new Set<Component>([parts.benchmark, ...parts.arms.flatMap(ofArm)])];
}
