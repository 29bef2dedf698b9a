import type { AgentPlugin, BenchmarkPlugin, DefencePlugin, MemoryPlugin } from '../contracts/plugin.ts';
import type { Reporter } from '../contracts/reporter.ts';
import { HeamsError, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';

type Lazy<T> = () => Promise<T>;

/** Names to lazy factories: a plug-in is one file and one line here, and costs nothing until it is named. */
export interface Registry {
  benchmarks: Readonly<Record<string, Lazy<BenchmarkPlugin>>>;
  reporters: Readonly<Record<string, Lazy<Reporter>>>;
  agents: Readonly<Record<string, Lazy<AgentPlugin>>>;
  memories: Readonly<Record<string, Lazy<MemoryPlugin>>>;
  defences: Readonly<Record<string, Lazy<DefencePlugin>>>;
}

export const builtinRegistry: Registry = {
  benchmarks: {
    contextual_integrity: async () =>
      (await import('../benchmarks/contextual-integrity/benchmark.ts')).contextualIntegrity as BenchmarkPlugin,
  },
  reporters: {
    contextual_integrity: async () => (await import('../benchmarks/contextual-integrity/reporter.ts')).ciReporter,
  },
  agents: {
    llm: async () => (await import('../agents/llm.ts')).llm as AgentPlugin,
    silent: async () => (await import('../agents/silent.ts')).silent as AgentPlugin,
    dump: async () => (await import('../agents/dump.ts')).dump as AgentPlugin,
    oracle: async () => (await import('../agents/oracle.ts')).oracle as AgentPlugin,
    redacted: async () => (await import('../agents/redacted.ts')).redacted as AgentPlugin,
    recorded: async () => (await import('../agents/recorded.ts')).recorded as AgentPlugin,
  },
  memories: {
    no_memory: async () => (await import('../memory/no-memory.ts')).noMemory as MemoryPlugin,
    full_context: async () => (await import('../memory/full-context.ts')).fullContext as MemoryPlugin,
    bm25: async () => (await import('../memory/bm25.ts')).bm25 as MemoryPlugin,
    vector: async () => (await import('../memory/vector.ts')).vector as MemoryPlugin,
    hybrid: async () => (await import('../memory/hybrid.ts')).hybrid as MemoryPlugin,
    recorded: async () => (await import('../memory/recorded.ts')).recordedMemory as MemoryPlugin,
  },
  defences: {},
};

/** The plug-in of a name, or an error that lists the names there are. */
export async function pick<T>(
  kind: string,
  plugins: Readonly<Record<string, Lazy<T>>>,
  name: unknown,
  where: Where,
): Promise<T> {
  const load = typeof name === 'string' && Object.hasOwn(plugins, name) ? plugins[name] : undefined;
  if (load) return load();
  const names = Object.keys(plugins);
  const meant = typeof name === 'string' ? nearest(name, names) : undefined;
  throw new HeamsError(name === undefined ? `missing key "${kind}"` : `unknown ${kind} "${String(name)}"`, {
    code: `unknown_${kind}`,
    where,
    expected: `one of: ${names.join(', ')}`,
    found: name === undefined ? 'nothing' : String(name),
    hint: meant ? `did you mean "${meant}"?` : '`heams list` shows what there is and what each needs',
  });
}

/** Every reporter by the name of its benchmark, for reading a folder whose benchmarks are not known yet. */
export async function loadReporters(registry: Registry = builtinRegistry): Promise<Map<string, Reporter>> {
  const entries = Object.entries(registry.reporters).map(async ([name, load]) => [name, await load()] as const);
  return new Map(await Promise.all(entries));
}
