import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fakeAgent, fakeBenchmark, fakeMemory, fakeReply } from '../../test/support/fake-parts.ts';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { problemOf } from '../../test/support/marked.ts';
import { makeProject, type Project, testHost } from '../../test/support/project.ts';
import type { Agent } from '../contracts/agent.ts';
import type { AgentPlugin, BenchmarkPlugin, DefencePlugin, MemoryPlugin } from '../contracts/plugin.ts';
import { createBudget } from '../models/with-budget.ts';
import { assemble } from './assemble.ts';
import { checkModels, modelUses } from './check-models.ts';
import { fingerprintOf, runIdentity } from './identity.ts';
import { loadRun } from './load-run.ts';
import type { Registry } from './registry.ts';
import { components } from './run.ts';
import { resumableNote, writeRunConfigs } from './written-config.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const shape = { name: z.string().optional(), description: z.string().optional() };
const schema = z.strictObject({
  ...shape,
  defence: z.literal('guard'),
  words: z.string(),
  rules: z.string().optional(),
  model_id: z.string().optional(),
});
type Options = z.infer<typeof schema>;

/** A registry that builds, with a defence, a memory that is its agent's own, and a log of what is made and closed. */
function building() {
  const log: string[] = [];
  const guard: DefencePlugin<Options> = {
    name: 'guard',
    summary: 'a fake defence',
    needs: 'nothing',
    schema,
    models: ({ model_id: id }) =>
      id === undefined ? [] : [{ path: ['model_id'], settings: { model_id: id }, kind: 'chat', role: 'defence' }],
    templates: ({ words }, offered) => [{ path: ['words'], source: words, variables: [...offered, 'message'] }],
    inlined: (options, resolve) => (options.rules ? { ...options, rules: resolve(options.rules) } : options),
    async create({ words }) {
      log.push(`create guard ${words}`);
      return {
        name: 'guard',
        guard: (agent: Agent) => ({
          ...agent,
          respond: async (...given) => {
            const reply = await agent.respond(...given);
            return { ...reply, message: `${words} ${reply.message}` };
          },
        }),
        close: async () => void log.push(`close guard ${words}`),
      };
    },
  };
  const agent = (name: string) => async () => {
    const plugin = await (fakeRegistry.agents[name] as () => Promise<AgentPlugin>)();
    const create = async () => {
      log.push(`create ${name}`);
      const respond = async () => fakeReply({ message: name });
      return fakeAgent({ name, respond, close: async () => void log.push(`close ${name}`) });
    };
    return { ...plugin, create };
  };
  const memory = (name: string, ofAgent: boolean) => async () => {
    const plugin: MemoryPlugin = {
      name,
      summary: 'a fake memory',
      needs: 'nothing',
      schema: z.strictObject({ ...shape, backend: z.literal(name) }),
      ...(ofAgent ? { ofAgent: true } : {}),
      create: async (_options, context) => {
        log.push(`create ${name} for ${context.agent?.name ?? 'everybody'}`);
        return { ...fakeMemory(), name };
      },
    };
    return plugin;
  };
  const registry: Registry = {
    ...fakeRegistry,
    benchmarks: {
      quiz: async () => ({
        ...((await fakeRegistry.benchmarks.quiz?.()) as BenchmarkPlugin),
        create: async () => fakeBenchmark(),
      }),
    },
    agents: { llm: agent('llm'), silent: agent('silent') },
    memories: { shared: memory('shared', false), own: memory('own', true) },
    defences: { guard: async () => guard as DefencePlugin },
  };
  return { registry, log };
}

const runFile = 'configs/runs/smoke.yaml';
const files: Record<string, string> = {
  'configs/benchmarks/quiz.yaml': goodFiles['configs/benchmarks/quiz.yaml'],
  'configs/agents/writer.yaml': goodFiles['configs/agents/writer.yaml'],
  'configs/agents/mute.yaml': 'kind: silent\n',
  'configs/memory/shared.yaml': 'backend: shared\n',
  'configs/memory/own.yaml': 'backend: own\n',
  'configs/defences/polite.yaml': 'defence: guard\nname: politeness\nwords: Dear {{ recipient }}\nrules: rules.yaml\n',
  'configs/defences/loud.yaml': 'defence: guard\nwords: HEY\n',
  [runFile]:
    'name: smoke\nbenchmark_config_file: quiz.yaml\nmatrix:\n  agents: [writer.yaml, mute.yaml]\n' +
    '  memories: [shared.yaml]\n  defences: [none, polite.yaml, loud.yaml]\n',
};
const arms = (...lines: string[]) =>
  `name: smoke\nbenchmark_config_file: quiz.yaml\nexperiments:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
const written = (defence: string) =>
  arms(`{ name: a, agent_config_file: writer.yaml, memory_config_file: shared.yaml, ${defence} }`);

async function setUp(overrides: Record<string, string> = {}) {
  const project = await makeProject({ ...files, ...overrides });
  projects.push(project);
  const { registry, log } = building();
  const load = (file = project.path(runFile)) => loadRun(file, registry);
  const build = async () =>
    assemble(await load(), testHost(project.dir), { budget: createBudget({}), signal: new AbortController().signal });
  return { project, registry, log, load, build };
}

describe('defences in a run file', () => {
  it('are the third dimension of a matrix, in which "none" stands for no defence', async () => {
    const run = await (await setUp()).load();
    expect(run.arms.map(({ name, defence }) => [name, defence?.name])).toEqual([
      ['writer-shared', undefined],
      ['writer-shared-polite', 'politeness'],
      ['writer-shared-loud', 'loud'],
      ['mute-shared', undefined],
      ['mute-shared-polite', 'politeness'],
      ['mute-shared-loud', 'loud'],
    ]);
    expect(components(run).map(({ name }) => name)).toEqual(['quiz', 'writer', 'shared', 'politeness', 'loud', 'mute']);
  });

  it.each([
    ['defence_config_file: polite.yaml', 'politeness'],
    ['defence_config_file: ../defences/loud.yaml', 'loud'],
    ['defence: { defence: guard, words: Hello }', 'guard'],
  ])('stand in an arm as %s', async (text, name) => {
    const file = text.replace('../', '../../configs/');
    const run = await (await setUp({ [runFile]: written(file) })).load();
    expect(run.arms[0]?.defence?.name).toBe(name);
  });

  it.each([
    [written('defence_config_file: polite.yaml, defence: { defence: guard, words: x }'), 'either defence_config_file'],
    [written('defence: { defence: gaurd, words: x }'), 'unknown defence "gaurd"'],
    [written('defence: { words: x }'), 'missing key "defence"'],
    [written('defence: { defence: guard, words: x, wrods: y }'), 'wrods'],
    [written('defence: { defence: guard, words: "{{ nobody }}" }'), 'nobody'],
    [written('defence_config_file: absent.yaml'), 'absent.yaml'],
    [(files[runFile] as string).replace('none', 'loud.yaml'), 'two arms are called "writer-shared-loud"'],
    [(files[runFile] as string).replace('[none, polite.yaml, loud.yaml]', '[]'), 'defences'],
  ])('are refused where they make no sense: %#', async (text, said) => {
    const { load } = await setUp({ [runFile]: text });
    const problems = await load().then(
      () => '',
      (error: Error & { describe(): string }) => error.describe(),
    );
    expect(problems).toContain(said);
    expect(problems).toMatch(/\.yaml:\d+:\d+/);
  });

  it('have their models checked like all others, and named as what they are', async () => {
    const { load } = await setUp({
      [runFile]: written('defence: { defence: guard, words: x, model_id: "openai:gpt" }'),
    });
    const run = await load();
    expect(modelUses(run).map(({ role, settings }) => [role, settings.model_id])).toContainEqual([
      'defence',
      'openai:gpt',
    ]);
    expect(await problemOf(() => checkModels(run, {}))).toMatchObject({ code: 'missing_api_key' });
  });
});

describe('arms with a defence', () => {
  it('have the agent behind it, and are filed under the agent that it is', async () => {
    const { build, log } = await setUp();
    const assembly = await build();
    const named = (name: string) => assembly.arms.find((arm) => arm.name === name);
    const say = (name: string) => named(name)?.agent.respond({} as never, {} as never, {} as never);
    expect((await say('mute-shared'))?.message).toBe('silent');
    expect((await say('mute-shared-loud'))?.message).toBe('HEY silent');
    expect(named('mute-shared-loud')).toMatchObject({
      agentName: 'mute',
      agentKind: 'silent',
      memoryName: 'shared',
      defence: { name: 'loud', kind: 'guard' },
    });
    expect(named('mute-shared')).not.toHaveProperty('defence');
    // Once each, however many arms share it.
    expect(log.filter((line) => line.startsWith('create'))).toEqual([
      'create llm',
      'create shared for everybody',
      'create guard Dear {{ recipient }}',
      'create guard HEY',
      'create silent',
    ]);
    await assembly.close();
    expect(log.filter((line) => line.startsWith('close')).sort()).toEqual([
      'close guard Dear {{ recipient }}',
      'close guard HEY',
      'close llm',
      'close silent',
    ]);
  });

  it('have an identity of their own; without one it is what it was before there were any', async () => {
    const { build, load } = await setUp();
    const [plain, polite, loud] = (await build()).arms.map(({ identity }) => identity as Record<string, unknown>);
    expect(Object.keys(plain ?? {})).toEqual(['agent', 'memory']);
    expect(polite?.defence).toEqual({
      plugin: 'guard',
      defence: 'guard',
      words: 'Dear {{ recipient }}',
      rules: 'rules.yaml',
    });
    expect(loud?.defence).not.toEqual(polite?.defence);
    const { experiments } = runIdentity(await load(), {}) as { experiments: Record<string, { defence?: object }> };
    expect(experiments['writer-shared']).not.toHaveProperty('defence');
    expect(experiments['writer-shared-polite']?.defence).toMatchObject({ name: 'politeness', plugin: 'guard' });
  });
});

describe('a memory that is its agent’s own', () => {
  it('is built once for each agent, before the defence, and any other once for all', async () => {
    const { build, log } = await setUp({
      [runFile]: (files[runFile] as string).replace('[shared.yaml]', '[own.yaml, shared.yaml]'),
    });
    const assembly = await build();
    expect(log.filter((line) => / for /.test(line)).sort()).toEqual([
      'create own for llm',
      'create own for silent',
      'create shared for everybody',
    ]);
    const memories = (agent: string, memory: string) =>
      new Set(assembly.arms.filter((arm) => arm.name.startsWith(`${agent}-${memory}`)).map(({ memory: one }) => one));
    expect(memories('writer', 'own').size).toBe(1);
    expect(memories('mute', 'own')).not.toEqual(memories('writer', 'own'));
    expect([...memories('mute', 'shared')][0]).toBe([...memories('writer', 'shared')][0]);
  });
});

describe('the config that a run with defences writes down', () => {
  it('runs again, alone or arm by arm, and is the same run', async () => {
    const { project, registry, load } = await setUp();
    const run = await load();
    const dir = project.path('results');
    await mkdir(dir);
    const note = {
      run_id: 'r1',
      version: '0.1.0',
      created_at: '2026-01-01T00:00:00.000Z',
      fingerprint: fingerprintOf(runIdentity(run, {})),
      dataset: {},
    };
    const names = run.arms.map(({ name }) => name);
    await writeRunConfigs(run, names, note, { dir, experimentDir: (name) => join(dir, name) });
    const again = await load(join(dir, 'run_config.r1.yaml'));
    expect(again.arms.map(({ name, defence }) => [name, defence?.name])).toEqual(
      run.arms.map(({ name, defence }) => [name, defence?.name]),
    );
    // But for the path, which is absolute now.
    expect(again.arms[1]?.defence?.options).toMatchObject({ rules: project.path('configs/defences/rules.yaml') });
    expect(again.arms[2]?.defence?.options).toEqual({ ...(run.arms[2]?.defence?.options as object), name: 'loud' });
    const own = await readFile(join(dir, 'mute-shared-loud/experiment_config.r1.yaml'), 'utf8');
    expect(own).toContain('words: HEY');
    expect(own).not.toContain('Dear');
    const plain = await readFile(join(dir, 'mute-shared/experiment_config.r1.yaml'), 'utf8');
    expect(plain).not.toContain('defence');
    await expect(resumableNote(dir, run, {}, registry)).resolves.toEqual(note);
  });

  it('tells the defence that changed when the folder is resumed', async () => {
    const { project, registry, load } = await setUp();
    const run = await load();
    const dir = project.path('results');
    await mkdir(dir);
    const fingerprint = fingerprintOf(runIdentity(run, {}));
    const note = { run_id: 'r1', version: '0.1.0', created_at: '2026-01-01T00:00:00.000Z', fingerprint, dataset: {} };
    await writeRunConfigs(run, [], note, { dir, experimentDir: (name) => join(dir, name) });
    await project.write('configs/defences/loud.yaml', 'defence: guard\nwords: HO\n');
    const changed = await load();
    const problem = await problemOf(() => resumableNote(dir, changed, {}, registry));
    expect(problem.found).toContain('experiments.writer-shared-loud.defence.words: "HEY" -> "HO"');
    expect(problem.found).not.toContain('writer-shared.');
  });
});
