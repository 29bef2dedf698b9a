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
    http: async () => (await import('../agents/http.ts')).http as AgentPlugin,
    command: async () => (await import('../agents/command.ts')).command as AgentPlugin,
    recorded: async () => (await import('../agents/recorded.ts')).recorded as AgentPlugin,
  },
  memories: {
    no_memory: async () => (await import('../memory/no-memory.ts')).noMemory as MemoryPlugin,
    full_context: async () => (await import('../memory/full-context.ts')).fullContext as MemoryPlugin,
    bm25: async () => (await import('../memory/bm25.ts')).bm25 as MemoryPlugin,
    vector: async () => (await import('../memory/vector.ts')).vector as MemoryPlugin,
    hybrid: async () => (await import('../memory/hybrid.ts')).hybrid as MemoryPlugin,
    sqlite: async () => (await import('../memory/sqlite.ts')).sqlite as MemoryPlugin,
    file_memory: async () => (await import('../memory/file-memory.ts')).fileMemory as MemoryPlugin,
    summary: async () => (await import('../memory/summary.ts')).summary as MemoryPlugin,
    extracted: async () => (await import('../memory/extracted.ts')).extracted as MemoryPlugin,
    pgvector: async () => (await import('../memory/pgvector.ts')).pgvector as MemoryPlugin,
    postgres_text: async () => (await import('../memory/postgres-text.ts')).postgresText as MemoryPlugin,
    lancedb: async () => (await import('../memory/lancedb.ts')).lancedb as MemoryPlugin,
    langgraph_store: async () => (await import('../memory/langgraph-store.ts')).langgraphStore as MemoryPlugin,
    mem0: async () => (await import('../memory/mem0.ts')).mem0 as MemoryPlugin,
    mem0_cloud: async () => (await import('../memory/mem0-cloud.ts')).mem0Cloud as MemoryPlugin,
    zep: async () => (await import('../memory/zep.ts')).zep as MemoryPlugin,
    supermemory: async () => (await import('../memory/supermemory.ts')).supermemory as MemoryPlugin,
    mcp: async () => (await import('../memory/mcp.ts')).mcp as MemoryPlugin,
    http: async () => (await import('../memory/http.ts')).http as MemoryPlugin,
    own_memory: async () => (await import('../memory/own-memory.ts')).ownMemory as MemoryPlugin,
    recorded: async () => (await import('../memory/recorded.ts')).recordedMemory as MemoryPlugin,
  },
  defences: {
    privacy_prompt: async () => (await import('../defences/privacy-prompt.ts')).privacyPrompt as DefencePlugin,
    ci_cot: async () => (await import('../defences/ci-cot.ts')).ciCot as DefencePlugin,
    flow_check: async () => (await import('../defences/flow-check.ts')).flowCheck as DefencePlugin,
    minimiser: async () => (await import('../defences/minimiser.ts')).minimiser as DefencePlugin,
    recipient_gate: async () => (await import('../defences/recipient-gate.ts')).recipientGate as DefencePlugin,
    output_guard: async () => (await import('../defences/output-guard.ts')).outputGuard as DefencePlugin,
    redact_identifiers: async () =>
      (await import('../defences/redact-identifiers.ts')).redactIdentifiersDefence as DefencePlugin,
    recorded: async () => (await import('../defences/recorded.ts')).recordedDefence as DefencePlugin,
  },
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
  // Of a mapping with a key "toString" no text can be made.
  const shown =
    name !== null && typeof name === 'object' ? (Array.isArray(name) ? 'a list' : 'a mapping') : String(name);
  throw new HeamsError(name === undefined ? `missing key "${kind}"` : `unknown ${kind} "${shown}"`, {
    code: `unknown_${kind}`,
    where,
    expected: `one of: ${names.join(', ')}`,
    found: name === undefined ? 'nothing' : shown,
    hint: meant ? `did you mean "${meant}"?` : '`heams list` shows what there is and what each needs',
  });
}

/** Every reporter by the name of its benchmark, for reading a folder whose benchmarks are not known yet. */
export async function loadReporters(registry: Registry = builtinRegistry): Promise<Map<string, Reporter>> {
  const entries = Object.entries(registry.reporters).map(async ([name, load]) => [name, await load()] as const);
  return new Map(await Promise.all(entries));
}
