import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import { loadRun, resolveFrom } from './load-run.ts';
import { components } from './run.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

async function project(files: Record<string, string | object> = {}): Promise<Project> {
  const made = await makeProject({ ...goodFiles, ...files });
  projects.push(made);
  return made;
}

const load = async (files: Record<string, string | object>, run = 'configs/runs/smoke.yaml') => {
  const made = await project(files);
  return { made, run: await loadRun(made.path(run), fakeRegistry) };
};

const quiz = { benchmark_config_file: 'quiz.yaml' };

describe('a good run', () => {
  it('is read with every default filled', async () => {
    const { made, run } = await load({});
    expect(run.file).toBe(made.path('configs/runs/smoke.yaml'));
    expect(run.settings).toEqual({
      name: 'smoke',
      benchmark_config_file: 'quiz.yaml',
      seed: 0,
      repeats: 1,
      concurrency: 16,
      max_connections: 64,
      budget: {},
      memory_ready_timeout_s: 60,
      memory_timeout_s: 300,
      controls: false,
      experiments: [{ name: 'arm', agent_config_file: 'writer.yaml', memory_config_file: 'keyword.yaml' }],
    });
    expect(run.benchmark.plugin.name).toBe('quiz');
    expect(run.benchmark.options).toEqual({
      benchmark: 'quiz',
      dataset: { hub: 'some/data', revision: 'main' },
      task_prompt: 'Do: {{ user_task }}',
      evaluator: { type: 'match', variant: 'raw' },
    });
    const [arm, ...others] = run.arms;
    expect(others).toEqual([]);
    expect(arm?.name).toBe('arm');
    expect(arm?.agent.plugin.name).toBe('llm');
    expect(arm?.memory.options).toEqual({ backend: 'keyword', top_k: 3 });
  });

  it('names a component after its file, unless it names itself', async () => {
    const { run } = await load({ 'configs/memory/keyword.yaml': 'backend: keyword\nname: words\n' });
    expect(run.benchmark.name).toBe('quiz');
    expect(run.arms[0]?.agent.name).toBe('writer');
    expect(run.arms[0]?.memory.name).toBe('words');
  });

  it('reads a component that many arms share once', async () => {
    const arm = { agent_config_file: 'writer.yaml', memory_config_file: 'keyword.yaml' };
    const { run } = await load({
      'configs/runs/smoke.yaml': {
        name: 'smoke',
        ...quiz,
        experiments: [
          { name: 'a', ...arm },
          { name: 'b', ...arm, agent_config_file: '../agents/writer.yaml' },
          { name: 'c', ...arm },
        ],
      },
    });
    expect(new Set(run.arms.map((one) => one.agent)).size).toBe(1);
    expect(new Set(run.arms.map((one) => one.memory)).size).toBe(1);
    expect(components(run)).toHaveLength(3);
  });

  it('keeps where every option stands', async () => {
    const { run } = await load({ 'configs/memory/keyword.yaml': '# words\nbackend: keyword\ntop_k:   3\n' });
    expect(run.arms[0]?.memory.where(['top_k'])).toMatchObject({ line: 3, column: 10 });
  });

  it('resolves paths of a component against its own file', async () => {
    const { made, run } = await load({});
    expect(resolveFrom(run.benchmark)('../data.jsonl')).toBe(made.path('configs/data.jsonl'));
    expect(resolveFrom(run.benchmark)('/abs')).toBe('/abs');
  });
});

describe('where components are looked up', () => {
  const files = (agent: string) => ({
    'configs/runs/deep/smoke.yaml': {
      name: 'smoke',
      ...quiz,
      experiments: [{ name: 'arm', agent_config_file: agent, memory_config_file: 'keyword.yaml' }],
    },
    'configs/agents/sub/silent.yaml': 'kind: silent\n',
    'configs/runs/deep/near.yaml': 'kind: silent\n',
    'configs/runs/up.yaml': 'kind: silent\n',
  });

  it.each([
    ['sub/silent.yaml', 'configs/agents/sub/silent.yaml'],
    ['./near.yaml', 'configs/runs/deep/near.yaml'],
    ['../up.yaml', 'configs/runs/up.yaml'],
  ])('%s is %s', async (name, expected) => {
    const { made, run } = await load(files(name), 'configs/runs/deep/smoke.yaml');
    expect(run.arms[0]?.agent.file).toBe(made.path(expected));
  });

  it('takes an absolute path', async () => {
    const made = await project({ 'elsewhere/silent.yaml': 'kind: silent\n' });
    await made.write(
      'configs/runs/deep/smoke.yaml',
      files(made.path('elsewhere/silent.yaml'))['configs/runs/deep/smoke.yaml'],
    );
    const run = await loadRun(made.path('configs/runs/deep/smoke.yaml'), fakeRegistry);
    expect(run.arms[0]?.agent.file).toBe(made.path('elsewhere/silent.yaml'));
  });

  it('without a configs folder, looks beside the run file', async () => {
    const { made, run } = await load(
      {
        'plain/run.yaml': {
          name: 'plain',
          ...quiz,
          experiments: [{ name: 'arm', agent_config_file: 'a.yaml', memory_config_file: 'm.yaml' }],
        },
        'plain/quiz.yaml': goodFiles['configs/benchmarks/quiz.yaml'],
        'plain/a.yaml': 'kind: silent\n',
        'plain/m.yaml': 'backend: keyword\n',
      },
      'plain/run.yaml',
    );
    expect(run.arms[0]?.memory.file).toBe(made.path('plain/m.yaml'));
  });
});

describe('a matrix', () => {
  it('expands to every agent with every memory, in order, named after both files', async () => {
    const { run } = await load({
      'configs/agents/sub/mute.yml': 'kind: silent\n',
      'configs/memory/words.v2.yaml': 'backend: keyword\n',
      'configs/runs/smoke.yaml': {
        name: 'm',
        ...quiz,
        matrix: { agents: ['writer.yaml', 'sub/mute.yml'], memories: ['keyword.yaml', 'words.v2.yaml'] },
      },
    });
    expect(run.arms.map((arm) => arm.name)).toEqual([
      'writer-keyword',
      'writer-words.v2',
      'mute-keyword',
      'mute-words.v2',
    ]);
    expect(run.arms.map((arm) => [arm.agent.name, arm.memory.name])).toEqual([
      ['writer', 'keyword'],
      ['writer', 'words.v2'],
      ['mute', 'keyword'],
      ['mute', 'words.v2'],
    ]);
  });
});

describe('components written into the run file', () => {
  it('are read in place, and named after their plug-in', async () => {
    const { made, run } = await load({
      'configs/runs/smoke.yaml': [
        'name: smoke',
        'benchmark_config_file: quiz.yaml',
        'experiments:',
        '  - name: arm',
        '    agent: { kind: silent }',
        '    memory:',
        '      backend: keyword',
        '      top_k: 9',
        '',
      ].join('\n'),
    });
    const [arm] = run.arms;
    expect(arm?.agent.name).toBe('silent');
    expect(arm?.memory.options).toEqual({ backend: 'keyword', top_k: 9 });
    expect(arm?.memory.where(['top_k'])).toEqual({ file: made.path('configs/runs/smoke.yaml'), line: 8, column: 14 });
  });
});
