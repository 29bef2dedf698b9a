import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { makeProject, type Project, testHost } from '../../test/support/project.ts';
import type { Agent } from '../contracts/agent.ts';
import type { Benchmark } from '../contracts/benchmark.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import type { AgentPlugin, BenchmarkPlugin, MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { createBudget } from '../models/with-budget.ts';
import { assemble } from './assemble.ts';
import { newRunId } from './execute-run.ts';
import { loadRun } from './load-run.ts';
import type { Registry } from './registry.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const arm = (name: string, agent: string, memory = 'keyword.yaml') =>
  `  - { name: ${name}, agent_config_file: ${agent}, memory_config_file: ${memory} }\n`;
const files = {
  ...goodFiles,
  'configs/agents/other.yaml': 'kind: silent\n',
  'configs/runs/smoke.yaml':
    `name: smoke\nseed: 7\nbenchmark_config_file: quiz.yaml\nexperiments:\n` +
    `${arm('a', 'writer.yaml')}${arm('b', 'writer.yaml')}${arm('c', 'other.yaml')}`,
};

/** The fake registry with plug-ins that build something, and a log of what happened to it. */
function building(onAgent: (context: PluginContext) => unknown = () => undefined) {
  const log: string[] = [];
  const contexts = new Map<string, PluginContext>();
  const built =
    <P extends { name: string }, T>(load: (() => Promise<P>) | undefined, thing: (name: string) => T) =>
    async () => {
      const plugin = await (load as () => Promise<P>)();
      const create = async (_options: unknown, context: PluginContext): Promise<T> => {
        log.push(`create ${plugin.name}`);
        contexts.set(plugin.name, context);
        return thing(plugin.name);
      };
      return { ...plugin, create };
    };
  const agent = (name: string) => async () => {
    const plugin = await built(fakeRegistry.agents[name], () => ({ name }) as Agent)();
    const create: AgentPlugin['create'] = async (options, context) => {
      await onAgent(context);
      return plugin.create(options, context);
    };
    return { ...plugin, create } as AgentPlugin;
  };
  const loaded = { samples: [], source: { sha256: 'abc' } };
  const registry: Registry = {
    ...fakeRegistry,
    benchmarks: {
      quiz: built(
        fakeRegistry.benchmarks.quiz,
        (name) => ({ name, loadSamples: async () => loaded }) as unknown as Benchmark,
      ) as () => Promise<BenchmarkPlugin>,
    },
    agents: { llm: agent('llm'), silent: agent('silent') },
    memories: {
      keyword: built(
        fakeRegistry.memories.keyword,
        (name) => ({ name, close: async () => void log.push(`close ${name}`) }) as unknown as MemoryBackend,
      ) as () => Promise<MemoryPlugin>,
    },
  };
  return { registry, log, contexts, loaded };
}

async function setUp(registry: Registry, env: Record<string, string> = {}, overrides: Record<string, string> = {}) {
  const project = await makeProject({ ...files, ...overrides });
  projects.push(project);
  const run = await loadRun(project.path('configs/runs/smoke.yaml'), registry);
  const host = testHost(project.dir, env);
  const parts = { budget: createBudget({}), signal: new AbortController().signal };
  return { project, host, build: () => assemble(run, host, parts) };
}

describe('assemble', () => {
  it('builds each component once, however many arms share it', async () => {
    const { registry, log, loaded } = building();
    const { build } = await setUp(registry);
    const assembly = await build();
    expect(log).toEqual(['create quiz', 'create llm', 'create keyword', 'create silent']);
    expect(assembly.loaded).toBe(loaded);
    expect(assembly.arms.map((one) => [one.name, one.agent.name, one.memoryName])).toEqual([
      ['a', 'llm', 'keyword'],
      ['b', 'llm', 'keyword'],
      ['c', 'silent', 'keyword'],
    ]);
    expect(new Set(assembly.arms.map((one) => one.memory)).size).toBe(1);
    expect(assembly.arms[2]?.identity).toEqual({
      agent: { plugin: 'silent', kind: 'silent' },
      memory: { plugin: 'keyword', backend: 'keyword', top_k: 3 },
    });
  });

  it('closes each memory once', async () => {
    const { registry, log } = building();
    const { build } = await setUp(registry);
    const assembly = await build();
    await assembly.close();
    expect(log.filter((entry) => entry.startsWith('close'))).toEqual(['close keyword']);
  });

  it('closes what was built when a later part cannot be', async () => {
    let agents = 0;
    const { registry, log } = building(() => {
      agents += 1;
      if (agents === 2) throw new HeamsError('no', { code: 'no' });
    });
    const { build } = await setUp(registry);
    await expect(build()).rejects.toThrow('no');
    expect(log.at(-1)).toBe('close keyword');
  });

  it("gives each part the run's seed, its own folder and the world it was handed", async () => {
    const { registry, contexts } = building();
    const { project, host, build } = await setUp(registry, { KEY: '1' });
    await build();
    const context = contexts.get('keyword') as PluginContext;
    expect(context).toMatchObject({ seed: 7, env: { KEY: '1' }, folders: host.folders });
    expect(context.clock).toBe(host.clock);
    expect(context.resolve('x.json')).toBe(project.path('configs/memory/x.json'));
  });

  it('makes one model of equal settings, and none whose header variables are not set', async () => {
    const models: unknown[] = [];
    const { registry } = building(async (context) => {
      models.push(await context.model({ model_id: 'builtin:echo' }));
      const headers = { 'X-Key': ['$', '{UNSET}'].join('') };
      await expect(context.model({ model_id: 'builtin:echo', headers })).rejects.toThrow('needs UNSET');
    });
    const { build } = await setUp(registry);
    await build();
    expect(models).toHaveLength(2);
    expect(models[0]).toBe(models[1]);
  });
});

describe('newRunId', () => {
  it('sorts by time, and tells two of one millisecond apart', () => {
    const at = (iso: string, entropy: number[]) => newRunId(Date.parse(iso), Uint8Array.from(entropy));
    const early = at('2026-01-02T03:04:05.006Z', [0xff, 0]);
    const late = at('2026-01-02T03:04:05.007Z', [0, 1]);
    expect(early).toBe('20260102T030405006Z-ff00');
    expect(early < late).toBe(true);
    expect(at('2026-01-02T03:04:05.006Z', [0xff, 1])).not.toBe(early);
    expect(early).toMatch(/^[\w-]+$/);
  });
});
