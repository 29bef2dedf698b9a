import type { Agent } from '../../src/contracts/agent.ts';
import type { Benchmark, Sample } from '../../src/contracts/benchmark.ts';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../../src/contracts/memory.ts';
import type { Job } from '../../src/run/plan-jobs.ts';
import type { SampleParts } from '../../src/run/run-sample.ts';
import type { Fact, Reply } from '../../src/schema/record.ts';
import { manualClock } from './fake-call.ts';

/** Parts of a run that do the least that their contracts ask for. Each takes what a test wants otherwise. */

export function fakeSample(id: string, overrides: Partial<Sample> = {}): Sample {
  return {
    id,
    cluster: id,
    hash: `hash of ${id}`,
    task: `Write about ${id}.`,
    facts: [
      { id: 'f0', key: 'Name', text: `Name: ${id}` },
      { id: 'f1', key: 'Room', text: 'Room: 12' },
    ],
    tags: { domain: 'Hospitality' },
    data: null,
    ...overrides,
  };
}

export function fakeJob(overrides: Partial<Job> = {}): Job {
  return { key: '0123456789abcdef', experiment: 'arm', sample: fakeSample('s0'), repeat: 0, ...overrides };
}

export function fakeReply(overrides: Partial<Reply> = {}): Reply {
  return { message: 'Hello.', prompt: [], recalls: [], tool_calls: [], warnings: [], ...overrides };
}

export function fakeBenchmark(overrides: Partial<Benchmark> = {}): Benchmark {
  return {
    name: 'fake',
    loadSamples: async () => ({ samples: [], source: {} }),
    turns: (sample) => [{ role: 'user', content: sample.task }],
    variables: () => ({ user_task: 'a task' }),
    labels: (sample) => ({ allowed: sample.facts, secrets: ['12'] }),
    grade: async ({ reply }) => ({ length: reply.message.length }),
    headline: () => ({ hits: 0, of: 1 }),
    headlineName: 'leakage',
    plannedCalls: () => [],
    ...overrides,
  };
}

export function fakeAgent(overrides: Partial<Agent> = {}): Agent {
  return { name: 'fake_agent', seesLabels: false, respond: async () => fakeReply(), ...overrides };
}

export interface FakeMemory extends MemoryBackend {
  /** Ids of the scopes that were opened, and of those that were disposed of, in order. */
  readonly opened: string[];
  readonly disposed: string[];
}

export interface FakeMemoryOptions {
  capabilities?: Partial<MemoryCapabilities>;
  /** Scope methods that do otherwise. */
  scope?: Partial<MemoryScope>;
  open?: MemoryBackend['open'];
}

/** A scope that keeps facts as they are and gives back the first k. */
export function fakeScope(overrides: Partial<MemoryScope> = {}): MemoryScope {
  const kept: Fact[] = [];
  const items = () => kept.map(({ id, text }) => ({ text, fact_ids: [id] }));
  return {
    write: async (facts) => void kept.push(...facts),
    ready: async () => {},
    search: async (query, k) => ({ query, requested_k: k, items: items().slice(0, k) }),
    list: async () => items(),
    dispose: async () => {},
    ...overrides,
  };
}

export function fakeCapabilities(overrides: Partial<MemoryCapabilities> = {}): MemoryCapabilities {
  return {
    stores: true,
    rewrites: false,
    provenance: true,
    honours_k: true,
    needs_network: false,
    needs_key: false,
    ...overrides,
  };
}

export function fakeMemory(options: FakeMemoryOptions = {}): FakeMemory {
  const opened: string[] = [];
  const disposed: string[] = [];
  return {
    name: 'fake_backend',
    capabilities: fakeCapabilities(options.capabilities),
    topK: 3,
    opened,
    disposed,
    async open(scopeId, call) {
      opened.push(scopeId);
      const scope = options.open ? await options.open(scopeId, call) : fakeScope(options.scope);
      return {
        ...scope,
        async dispose() {
          disposed.push(scopeId);
          await scope.dispose();
        },
      };
    },
    close: async () => {},
  };
}

export function fakeParts(overrides: Partial<SampleParts> = {}): SampleParts {
  return {
    runId: 'run-1',
    benchmark: fakeBenchmark(),
    agent: fakeAgent(),
    memory: fakeMemory(),
    agentName: 'fake_agent',
    agentKind: 'fake_kind',
    memoryName: 'fake_memory',
    readyTimeoutS: 60,
    memoryTimeoutS: 300,
    clock: manualClock(Date.UTC(2025, 0, 1)),
    versions: { heams: '0.1.0', node: 'v20.20.0' },
    ...overrides,
  };
}
