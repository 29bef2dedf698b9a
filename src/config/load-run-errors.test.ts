import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { marked, problemOf, problemsOf } from '../../test/support/marked.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import { loadRun } from './load-run.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const runFile = 'configs/runs/smoke.yaml';

async function loader(files: Record<string, string>) {
  const project = await makeProject({ ...goodFiles, ...files });
  projects.push(project);
  return { project, load: () => loadRun(project.path(runFile), fakeRegistry) };
}

/** The one problem of a project in which `file` has this text; its place must be the mark's. */
async function markedProblem(file: string, text: string, others: Record<string, string> = {}) {
  const { text: plain, line, column } = marked(text);
  const { project, load } = await loader({ ...others, [file]: plain });
  const problem = await problemOf(load);
  expect(problem.where).toEqual({ file: project.path(file), line, column });
  return problem;
}

const head = 'name: smoke\nbenchmark_config_file: quiz.yaml\n';
const arm = '  - { name: arm, agent_config_file: writer.yaml, memory_config_file: keyword.yaml }\n';

describe('misspelled keys', () => {
  it('at the top of the run file', async () => {
    const problem = await markedProblem(runFile, `${head}# comment\n▸concurency: 4\nexperiments:\n${arm}`);
    expect(problem.code).toBe('config_unknown_key');
    expect(problem.message).toBe('unknown key "concurency"');
    expect(problem.found).toBe('concurency');
    expect(problem.expected).toMatch(/^one of: name, description, benchmark_config_file,.* concurrency,/);
    expect(problem.hint).toBe('did you mean "concurrency"?');
  });

  it('in an experiment', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}experiments:\n  - name: arm\n    agent_config_file: writer.yaml\n    memory_config_file: keyword.yaml\n    ▸memorry: {}\n`,
    );
    expect(problem.message).toBe('unknown key "memorry" in experiments.0');
    expect(problem.expected).toBe(
      'one of: name, agent_config_file, agent, memory_config_file, memory, defence_config_file, defence',
    );
    expect(problem.hint).toBe('did you mean "memory"?');
  });

  it('of a key that must be there', async () => {
    const problem = await markedProblem(runFile, `${head}▸experimens:\n${arm}`);
    expect(problem.hint).toBe('did you mean "experiments"?');
  });

  it('in a component file', async () => {
    const problem = await markedProblem('configs/memory/keyword.yaml', 'backend: keyword\n▸topk: 3\n');
    expect(problem.expected).toBe('one of: name, description, backend, top_k, ranking');
    expect(problem.hint).toBe('did you mean "top_k"?');
  });

  it('in a nested block', async () => {
    const problem = await markedProblem('configs/memory/keyword.yaml', 'backend: keyword\nranking: { b: 1, ▸kl: 2 }\n');
    expect(problem.message).toBe('unknown key "kl" in ranking');
    expect(problem.expected).toBe('one of: k1, b');
    expect(problem.hint).toBe('did you mean "k1"?');
  });

  it('in a component written into the run file', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}experiments:\n  - name: arm\n    agent: { kind: silent }\n    memory:\n      backend: keyword\n      ▸topk: 3\n`,
    );
    expect(problem.hint).toBe('did you mean "top_k"?');
  });

  it.each(['▸wallpaper: blue', 'ranking: { ▸xy: 1 }'])('offers nothing where nothing is near: %s', async (line) => {
    const problem = await markedProblem('configs/memory/keyword.yaml', `backend: keyword\n${line}\n`);
    expect(problem.hint).toBeUndefined();
  });
});

describe('values', () => {
  it('of a wrong type', async () => {
    const problem = await markedProblem(runFile, `${head}repeats:   ▸"three"\nexperiments:\n${arm}`);
    expect(problem).toMatchObject({
      code: 'config_bad_value',
      message: 'bad value for "repeats"',
      expected: 'a number',
      found: '"three"',
    });
  });

  it('that are not there', async () => {
    const problem = await markedProblem('configs/agents/writer.yaml', '# writer\n▸model_id: builtin:echo\n');
    expect(problem).toMatchObject({
      code: 'config_missing_key',
      message: 'missing key "instructions"',
      expected: 'a text',
      found: 'nothing',
      hint: 'add "instructions" here',
    });
  });

  it('of a key that stands where the name of its variable should', async () => {
    const problem = await markedProblem(
      'configs/agents/writer.yaml',
      'model_id: builtin:echo\ninstructions: x\napi_key_env: ▸sk-12345\n',
    );
    expect(problem.expected).toBe('the name of an environment variable, not the key itself');
    expect(problem.describe()).not.toContain('12345');
  });

  it('of a tag that a benchmark does not have', async () => {
    const text =
      'benchmark: quiz\ndataset: { hub: a/b }\ntask_prompt: "{{ user_task }}"\nevaluator: { type: ▸macth }\n';
    const problem = await markedProblem('configs/benchmarks/quiz.yaml', text);
    expect(problem).toMatchObject({
      expected: 'one of: judge, match',
      found: '"macth"',
      hint: 'did you mean "match"?',
    });
  });

  it('a prompt that is missing is named, with the block that lacks it', async () => {
    const text =
      'benchmark: quiz\ndataset: { hub: a/b }\ntask_prompt: "{{ user_task }}"\n' +
      'evaluator:\n  ▸type: judge\n  judge_model_id: builtin:echo\n';
    const problem = await markedProblem('configs/benchmarks/quiz.yaml', text);
    expect(problem.message).toBe('missing key "evaluator.judge_prompt"');
  });
});

describe('components', () => {
  it('whose file is missing are reported where the run file names it', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}experiments:\n  - name: arm\n    agent_config_file: ▸writter.yaml\n    memory_config_file: keyword.yaml\n`,
    );
    expect(problem.code).toBe('config_missing_file');
    expect(problem.message).toMatch(/^there is no file .*configs\/agents\/writter\.yaml$/);
    expect(problem).toMatchObject({ expected: 'a config file', found: 'nothing', hint: 'did you mean "writer.yaml"?' });
  });

  it('whose folder is missing, too', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}matrix:\n  agents: [writer.yaml, ▸none/there.yaml]\n  memories: [keyword.yaml]\n`,
    );
    expect(problem.hint).toContain('a bare name is looked up under the nearest folder named "configs"');
  });

  it('that are a folder', async () => {
    const problem = await markedProblem(runFile, `${head}matrix:\n  agents: [writer.yaml]\n  memories: [▸.]\n`);
    expect(problem.message).toMatch(/configs\/memory is a folder$/);
    expect(problem.found).toBe('a folder');
  });

  it.each([
    ['configs/memory/keyword.yaml', 'backend: ▸keywrod\n', 'unknown backend "keywrod"', 'keyword, vector', 'keyword'],
    ['configs/agents/writer.yaml', 'kind: ▸silnet\n', 'unknown kind "silnet"', 'llm, silent', 'silent'],
    ['configs/benchmarks/quiz.yaml', '\nbenchmark: ▸quizz\n', 'unknown benchmark "quizz"', 'quiz', 'quiz'],
  ])('%s of an unknown plug-in', async (file, text, message, names, meant) => {
    const problem = await markedProblem(file, text);
    expect(problem).toMatchObject({ message, expected: `one of: ${names}`, hint: `did you mean "${meant}"?` });
  });

  it('that name no plug-in', async () => {
    const problem = await markedProblem('configs/memory/keyword.yaml', '▸top_k: 3\n');
    expect(problem).toMatchObject({
      message: 'missing key "backend"',
      expected: 'one of: keyword, vector',
      found: 'nothing',
    });
  });

  it('whose plug-in is named like a part of every object', async () => {
    const problem = await markedProblem('configs/memory/keyword.yaml', 'backend: ▸constructor\n');
    expect(problem.code).toBe('unknown_backend');
  });

  it('that are a list', async () => {
    const problem = await markedProblem('configs/memory/keyword.yaml', '# none\n▸- backend: keyword\n');
    expect(problem).toMatchObject({ expected: 'keys and values, "backend" among them', found: 'a list' });
  });

  it('are reported once, however many arms share them', async () => {
    const many = Array.from({ length: 5 }, (_, i) => arm.replace('arm,', `arm${i},`)).join('');
    await markedProblem('configs/memory/keyword.yaml', 'backend: keyword\ntop_k: ▸0\n', {
      [runFile]: `${head}experiments:\n${many}`,
    });
  });
});

describe('arms', () => {
  const named = (name: string, other = 'arm') =>
    `${head}experiments:\n${arm.replace('arm,', `${other},`)}${arm.replace('name: arm', `name: ${name}`)}`;

  it.each(['arm', 'ARM', 'Arm'])('of one name: arm and %s', async (name) => {
    const problem = await markedProblem(runFile, named(`▸${name}`));
    expect(problem).toMatchObject({
      code: 'config_duplicate_arm',
      message: `two arms are called "${name}"`,
      found: name,
    });
  });

  it.each([
    ['a/b', '"a/b"'],
    ['..', '".."'],
    ['.hidden', '".hidden"'],
    ['""', '""'],
    ['"a b"', '"a b"'],
    ['x'.repeat(200), `"${'x'.repeat(76)}...`],
    ['2024', '2024'],
  ])('called %s', async (name, found) => {
    const problem = await markedProblem(runFile, named(`▸${name}`));
    expect(problem).toMatchObject({ code: 'config_bad_value', message: 'bad value for "experiments.1.name"', found });
  });

  it('of a matrix whose file names make no arm name', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}matrix:\n  agents: [▸my writer.yaml]\n  memories: [keyword.yaml]\n`,
      { 'configs/agents/my writer.yaml': 'kind: silent\n' },
    );
    expect(problem).toMatchObject({ code: 'config_bad_arm_name', found: 'my writer-keyword' });
    expect(problem.hint).toContain('experiments');
  });

  it('of a matrix that has one name twice', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}matrix:\n  agents: [writer.yaml, ▸sub/writer.yaml]\n  memories: [keyword.yaml]\n`,
      { 'configs/agents/sub/writer.yaml': 'kind: silent\n' },
    );
    expect(problem.message).toBe('two arms are called "writer-keyword"');
  });

  it.each([
    [
      'both experiments and a matrix',
      `matrix: { agents: [writer.yaml], memories: [keyword.yaml] }\nexperiments:\n${arm}`,
    ],
    ['neither experiments nor a matrix', ''],
  ])('%s', async (_what, rest) => {
    const problem = await markedProblem(runFile, `▸${head}${rest}`);
    expect(problem.expected).toBe('either experiments or matrix');
    expect(problem.found).toMatch(/^a mapping of name, benchmark_config_file/);
  });

  it('with an agent file and an agent', async () => {
    const problem = await markedProblem(
      runFile,
      `${head}experiments:\n  - ▸name: arm\n    agent_config_file: writer.yaml\n    agent: { kind: silent }\n    memory_config_file: keyword.yaml\n`,
    );
    expect(problem).toMatchObject({
      message: 'bad value for "experiments.0"',
      expected: 'either agent_config_file or agent',
      found: 'a mapping of name, agent_config_file, agent, memory_config_file',
    });
  });

  it('that are none', async () => {
    const problem = await markedProblem(runFile, `${head}experiments: ▸[]\n`);
    expect(problem.found).toBe('a list of 0');
  });
});

describe('several problems', () => {
  it('are told in one go, over all files', async () => {
    const { project, load } = await loader({
      [runFile]: `${head}experiments:\n${arm}${arm}  - { name: c, agent_config_file: gone.yaml, memory_config_file: keyword.yaml }\n`,
      'configs/benchmarks/quiz.yaml': goodFiles['configs/benchmarks/quiz.yaml'].replace('some/data', '[]'),
      'configs/agents/writer.yaml': 'model: x\nmodel_id: 3\n',
      'configs/memory/keyword.yaml': 'backend: keyword\ntop_k: no\n',
    });
    const places = (await problemsOf(load)).map(({ where }) => [
      where?.file.slice(project.dir.length + 1),
      where?.line,
    ]);
    expect(places).toEqual([
      [runFile, 5],
      ['configs/benchmarks/quiz.yaml', 2],
      ['configs/agents/writer.yaml', 2],
      ['configs/agents/writer.yaml', 1],
      ['configs/agents/writer.yaml', 1],
      ['configs/memory/keyword.yaml', 2],
      [runFile, 6],
    ]);
  });
});
