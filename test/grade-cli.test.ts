import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type Project, readJsonLines, runCli } from './support/project.ts';

const benchmark = {
  benchmark: 'contextual_integrity',
  dataset: { bundled: 'heams_scenarios', limit: 2 },
  user_task_prompt: '{{ user_task }}',
  evaluator: { type: 'ci_string_match' },
};

const verdict = (name: string, leaked: boolean, action: string) => ({
  run: 'naive',
  name,
  user_name: 'Ada',
  user_instruction: 'Write a post.',
  final_action: action,
  leak_info: leaked,
  secret_judgment: [['a secret', leaked]],
});
const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

describe('heams grade, import and parity', { timeout: 60_000 }, () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject({
      'benchmark.yaml': benchmark,
      'answers.jsonl': lines({ sample_id: 'hospitality-01', message: 'Hello.' }),
      'verdicts.jsonl': lines(verdict('main1', true, 'Action: Post'), verdict('main2', false, 'I would post.')),
    });
  });
  afterAll(() => project.remove());
  const heams = (...args: string[]) => runCli(args, project.dir);

  it.each([
    [[], 'either the folder of a run, or a file of messages'],
    [['x', '--responses', 'answers.jsonl'], 'either the folder of a run, or a file of messages'],
    [['--responses', 'answers.jsonl'], 'add --benchmark <file>'],
    [['--responses', 'answers.jsonl', '--benchmark', 'benchmark.yaml', '--judge', 'x:y'], '--judge goes with'],
    [['x'], 'add --benchmark <file>, --judge <model>, or both'],
    [['out', '--benchmark', 'benchmark.yaml'], 'choose another --output-dir'],
    [['nowhere', '--benchmark', 'benchmark.yaml'], 'there is no such results folder'],
  ])('answers grade %j with what is wrong', async (args, said) => {
    const { code, stderr } = await heams('grade', ...args, '--output-dir', 'out');
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(existsSync(project.path('out'))).toBe(false);
  });

  it('grades messages, and then the run that they have become', async () => {
    const args = ['--responses', 'answers.jsonl', '--benchmark', 'benchmark.yaml', '--name', 'theirs'];
    const refused = await heams('grade', ...args, '--output-dir', 'theirs');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('1 of 2 responses are missing') });
    const made = await heams('grade', ...args, '--allow-missing', '--output-dir', 'theirs', '--json');
    expect(made.code).toBe(1);
    expect(JSON.parse(made.stdout)).toMatchObject({
      planned: 2,
      experiments: [{ experiment: 'theirs', done: 1, failed: 1 }],
    });
    const again = await heams('grade', 'theirs', '--benchmark', 'benchmark.yaml', '--output-dir', 'again');
    expect(again.stdout).toContain('1 of 2 samples done, 1 failed');
    const records = await readJsonLines(project.path('again', 'theirs', 'runs.jsonl'));
    expect(records.map(({ status, backend }) => [status, backend]).sort()).toEqual([
      ['done', 'external'],
      ['failed', 'external'],
    ]);
    for (const args of [['rollup'], ['generate-report']]) {
      expect((await heams(...args, '--results-dir', 'again')).code).toBe(0);
    }
  });

  it('imports recorded verdicts, and gives their published figures', async () => {
    const made = await heams('import', 'privacylens-verdicts', 'verdicts.jsonl', '--output-dir', 'recorded');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/naive +2 +50\.00 % +50\.00 % +1 +100\.00 %/);
    const { stdout } = await heams('parity', 'recorded', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ arms: [{ privacylens: { leakage: { value: 0.5, of: 2 } } }] });
    const written = await heams('parity', 'recorded', '--write');
    expect(written.stdout).toContain('recorded/_rollup/ci/parity.html');
    expect((await heams('rollup', '--results-dir', 'recorded')).code).toBe(0);
  });
});
