import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { marked, problemOf, problemsOf } from '../../test/support/marked.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import { loadRun } from './load-run.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const agentFile = 'configs/agents/writer.yaml';

async function loader(files: Record<string, string>) {
  const project = await makeProject({ ...goodFiles, ...files });
  projects.push(project);
  return { project, load: () => loadRun(project.path('configs/runs/smoke.yaml'), fakeRegistry) };
}

/** The one problem of a project whose agent has these instructions; its place must be the mark's. */
async function markedProblem(instructions: string) {
  const { text, line, column } = marked(`model_id: builtin:echo\ninstructions: ${instructions}\n`);
  const { project, load } = await loader({ [agentFile]: text });
  const problem = await problemOf(load);
  expect(problem).toMatchObject({
    code: 'config_bad_template',
    where: { file: project.path(agentFile), line, column },
  });
  return problem;
}

describe('prompts', () => {
  it('may use what the benchmark offers and what the agent has', async () => {
    const instructions = '"{{ user_task }} {{ recipient | json }} {% if memories %}{{ memories }}{% endif %}"';
    const { load } = await loader({ [agentFile]: `model_id: builtin:echo\ninstructions: ${instructions}\n` });
    expect((await load()).arms).toHaveLength(1);
  });

  it('may use variables that they make themselves', async () => {
    const instructions = '"{% assign who = recipient %}{{ who }}{% for c in memories %}{{ c }}{% endfor %}"';
    const { load } = await loader({ [agentFile]: `model_id: builtin:echo\ninstructions: ${instructions}\n` });
    expect((await load()).arms).toHaveLength(1);
  });

  it('with an unknown variable are told its line inside a block, not where the prose has the same word', async () => {
    const problem = await markedProblem('|\n  You write to the recipent.\n  It is\n    {{ ▸recipent }}, you see.');
    expect(problem).toMatchObject({
      message: 'unknown template variable "recipent" in "instructions"',
      expected: 'a Liquid template over: user_task, recipient, memories',
      found: 'recipent',
      hint: 'did you mean "recipient"?',
    });
  });

  it.each([
    ['a variable inside a longer one', '|\n  {{ memories }} {{ ▸memo }}'],
    ['a property', '|\n  {{ recipient.sender }}\n  {{ ▸sender }}'],
    ['a tag', '|\n  {%- if recipient and ▸sender -%} x {% endif %}'],
    ['a branch that no render takes', '|\n  {% if false %}\n  {{ ▸sender }}{% endif %}'],
    ['a folded block', '>-\n  one\n  two\n\n  three {{ ▸sender }}'],
    ['a quoted text', '"to {{ ▸sender }}"'],
    ['a filter argument', '|\n  {{ recipient | append: ▸sender }}'],
  ])('with an unknown variable in %s', async (_what, instructions) => {
    await markedProblem(instructions);
  });

  it('of a component that is written into the run file', async () => {
    const { text, line, column } = marked(
      [
        'name: smoke',
        'benchmark_config_file: quiz.yaml',
        'experiments:',
        '  - name: arm',
        '    memory_config_file: keyword.yaml',
        '    agent:',
        '      model_id: builtin:echo',
        '      instructions: |',
        '        Hello.',
        '        {{ ▸sender }}',
        '',
      ].join('\n'),
    );
    const { load } = await loader({ 'configs/runs/smoke.yaml': text });
    expect((await problemOf(load)).where).toMatchObject({ line, column });
  });

  it('with an unknown filter', async () => {
    const problem = await markedProblem('|\n  Hello.\n  It is ▸{{ recipient | jsn }}.');
    expect(problem.message).toBe('undefined filter: jsn in "instructions"');
  });

  it.each([
    ['a tag that is not closed', '|\n  Hello.\n  ▸{% if recipient %} yes', 'tag {% if recipient %} not closed'],
    ['an output that is not closed', '|\n  Hello.\n  ▸{{ recipient', 'not closed'],
    ['an unknown tag', '|\n  Hello.\n\n    ▸{% foo %}', 'tag "foo" not found'],
    ['an empty output', '|\n  Hello.\n  a | b ▸{{ | }}', 'invalid value expression: "|"'],
  ])('with %s', async (_what, instructions, message) => {
    expect((await markedProblem(instructions)).message).toContain(message);
  });

  it.each(["{% include 'other' %}", "{% render 'other' %}", "{% layout 'other' %}", '{% include recipient %}'])(
    'with %s',
    async (tag) => {
      const problem = await markedProblem(`|\n  ▸${tag}`);
      expect(problem.message).toBe('a template cannot include another file in "instructions"');
    },
  );

  it('without the variable that they are for', async () => {
    const { text, line, column } = marked(
      'benchmark: quiz\ndataset: { hub: a/b }\nevaluator: { type: match }\ntask_prompt: ▸Do it.\n',
    );
    const { load } = await loader({ 'configs/benchmarks/quiz.yaml': text });
    const problem = await problemOf(load);
    expect(problem.message).toBe('the template never uses {{ user_task }} in "task_prompt"');
    expect(problem.where).toMatchObject({ line, column });
  });

  it('report every unknown variable, each once', async () => {
    const { load } = await loader({
      [agentFile]: 'model_id: builtin:echo\ninstructions: "{{ one }} {{ two }} {{ one }}"\n',
    });
    expect((await problemsOf(load)).map((problem) => problem.found)).toEqual(['one', 'two']);
  });

  it('of an agent are not judged by a benchmark that could not be read', async () => {
    const { load } = await loader({
      'configs/benchmarks/quiz.yaml': 'benchmark: nothing\n',
      [agentFile]: 'model_id: builtin:echo\ninstructions: "{{ recipient }}"\ntempperature: 1\n',
    });
    const codes = (await problemsOf(load)).map((problem) => problem.code);
    expect(codes).toEqual(['unknown_benchmark', 'config_unknown_key']);
  });
});
