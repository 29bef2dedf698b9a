import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { marked, problemOf, problemsOf } from '../../test/support/marked.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import { checkModels, modelUses } from './check-models.ts';
import { loadRun } from './load-run.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const runFile = 'configs/runs/smoke.yaml';
const agentFile = 'configs/agents/writer.yaml';
const arms = (agents: string[], memories: string[]) => ({
  [runFile]: { name: 'smoke', benchmark_config_file: 'quiz.yaml', matrix: { agents, memories } },
});
const judge = (model: string) => ({
  'configs/benchmarks/quiz.yaml':
    'benchmark: quiz\ndataset: { hub: a/b }\ntask_prompt: "{{ user_task }}"\n' +
    `evaluator:\n  type: judge\n  judge_model_id: ${model}\n  judge_prompt: "{{ value }}"\n`,
});
const agent = (rest: string) => `instructions: x\n${rest}\n`;

async function load(files: Record<string, string | object>) {
  const project = await makeProject({ ...goodFiles, ...files });
  projects.push(project);
  return { project, run: await loadRun(project.path(runFile), fakeRegistry) };
}

describe('checkModels', () => {
  it('is content where nothing needs a key, and where every key is there', async () => {
    const { run } = await load({});
    expect(() => checkModels(run, {})).not.toThrow();
    const { run: keyed } = await load(judge('openai:gpt-4o-mini'));
    expect(() => checkModels(keyed, { OPENAI_API_KEY: 'sk-1' })).not.toThrow();
  });

  it('names a missing variable once, with everything that needs it and the ways on', async () => {
    const { project, run } = await load({
      ...judge('openai:gpt-4o-mini'),
      ...arms(['writer.yaml', 'second.yaml'], ['keyword.yaml', 'meaning.yaml']),
      [agentFile]: agent('model_id: openai:gpt-4o'),
      'configs/agents/second.yaml': agent('model_id: openai:gpt-5\nname: two'),
      'configs/memory/meaning.yaml': 'backend: vector\nembedding_model_id: openai:text-embedding-3-small\n',
    });
    const problem = await problemOf(() => checkModels(run, {}));
    expect(problem).toMatchObject({
      code: 'missing_api_key',
      message: 'OPENAI_API_KEY is not set',
      where: { file: project.path('configs/benchmarks/quiz.yaml'), line: 6, column: 19 },
      found: 'nothing',
    });
    expect(problem.expected).toBe(
      'OPENAI_API_KEY in the environment or in a .env file here, for judge quiz (openai:gpt-4o-mini), ' +
        'agent writer (openai:gpt-4o), embeddings meaning (openai:text-embedding-3-small), agent two (openai:gpt-5)',
    );
    expect(problem.hint).toContain('heams demo');
    expect(problem.hint).toContain('"openai-compatible:<model>" with base_url');
  });

  it('names every missing variable, also one that a config chose', async () => {
    const { run } = await load({
      ...judge('anthropic:claude'),
      [agentFile]: agent('model_id: openai:gpt-4o\napi_key_env: MY_KEY'),
    });
    const problems = await problemsOf(() => checkModels(run, { OPENAI_API_KEY: 'sk-1' }));
    expect(problems.map((one) => one.message)).toEqual(['ANTHROPIC_API_KEY is not set', 'MY_KEY is not set']);
  });

  it('tells the other names that a key may have', async () => {
    const { run } = await load({ [agentFile]: agent('model_id: google:gemini') });
    const { hint } = await problemOf(() => checkModels(run, {}));
    expect(hint).toContain('GEMINI_API_KEY');
  });

  it.each([
    ['model_id: ▸opnai:gpt', 'unknown_provider', 'did you mean openai:gpt?'],
    ['model_id: ▸gpt-4o', 'bad_model_id', 'write for example openai:gpt-4o'],
    ['temperature: 1\nmodel_id: ▸builtin:ecco', 'unknown_model', undefined],
  ])('points at the id in %j', async (rest, code, hint) => {
    const { text, line, column } = marked(agent(rest));
    const { project, run } = await load({ [agentFile]: text });
    const problem = await problemOf(() => checkModels(run, {}));
    expect(problem).toMatchObject({ code, where: { file: project.path(agentFile), line, column }, hint });
  });

  it('asks for a chat model where a chat model is needed, and for an embedding model where one is', async () => {
    const memory = (id: string) => ({
      ...arms(['writer.yaml'], ['meaning.yaml']),
      'configs/memory/meaning.yaml': `backend: vector\nembedding_model_id: ${id}\n`,
    });
    const { run } = await load(memory('builtin:echo'));
    expect((await problemOf(() => checkModels(run, {}))).message).toBe('builtin has no embedding models');
    const { run: chat } = await load({ ...memory('openai:e'), [agentFile]: agent('model_id: builtin:echo') });
    expect(() => checkModels(chat, { OPENAI_API_KEY: 'sk-1' })).not.toThrow();
  });

  it('reports problems of all models at once', async () => {
    const { run } = await load({ ...judge('opnai:gpt'), [agentFile]: agent('model_id: "openai-compatible:llama"') });
    const problems = await problemsOf(() => checkModels(run, {}));
    expect(problems.map((one) => one.code)).toEqual(['unknown_provider', 'missing_base_url']);
  });

  it('names header variables that are not set, where the headers stand', async () => {
    const reference = (name: string) => ['$', '{', name, '}'].join('');
    const { text, line, column } = marked(
      agent(`model_id: builtin:echo\nheaders:\n  ▸X-One: ${reference('ONE')}\n  X-Two: ${reference('TWO')}`),
    );
    const { project, run } = await load({ [agentFile]: text });
    const [problem, ...others] = await problemsOf(() => checkModels(run, { TWO: '2' }));
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      code: 'missing_header_variable',
      message: 'the header "X-One" of builtin:echo needs ONE',
      where: { file: project.path(agentFile), line, column },
    });
  });

  it('shows no key, whatever is wrong with it', async () => {
    const { run } = await load({ [agentFile]: agent('model_id: openai:gpt') });
    const problem = await problemOf(() => checkModels(run, { OPENAI_API_KEY: 'sk-hüsh' }));
    expect(problem.code).toBe('bad_api_key');
    expect(problem.describe()).not.toContain('hüsh');
  });
});

describe('modelUses', () => {
  it('lists every model of every component once, with its place', async () => {
    const { run } = await load({ ...judge('openai:gpt'), ...arms(['writer.yaml'], ['keyword.yaml']) });
    expect(modelUses(run).map(({ role, settings, where }) => [role, settings.model_id, where.line])).toEqual([
      ['judge', 'openai:gpt', 6],
      ['agent', 'builtin:echo', 1],
    ]);
  });
});
