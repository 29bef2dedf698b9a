import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { problemOf } from '../../test/support/marked.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import type { WrittenNote } from '../schema/run-file.ts';
import { fingerprintOf, runIdentity } from './identity.ts';
import { loadRun } from './load-run.ts';
import { withOverrides } from './overrides.ts';
import type { Run } from './run.ts';
import { resumableNote, writeRunConfigs } from './written-config.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const source = { hub: 'some/data', sha256: 'abc', revision: 'r1', rows: 3 };
const runFile = 'configs/runs/smoke.yaml';
const keyReference = ['$', '{KEY}'].join('');
const files: Record<string, string> = {
  ...goodFiles,
  'configs/benchmarks/quiz.yaml':
    'benchmark: quiz\nname: pub quiz\ndataset: { file: ../../data/rows.jsonl }\ntask_prompt: "{{ user_task }}"\n' +
    'evaluator:\n  type: judge\n  judge_model_id: "openai:gpt"\n  judge_prompt: |\n    {{ value }}\n\n      # no comment: {{ message }}  \n' +
    `  headers: { Authorization: "Bearer hush-1", X-Key: "${keyReference}" }\n  base_url: http://me:hush-2@host/v1\n`,
  [runFile]:
    'name: smoke\ndescription: "yes"\nbenchmark_config_file: quiz.yaml\nseed: 3\nrepeats: 2\nbudget: { max_cost_usd: 1.5 }\n' +
    'matrix:\n  agents: [writer.yaml, silent.yaml]\n  memories: [keyword.yaml]\n',
  'configs/agents/silent.yaml': 'kind: silent\nname: mute\n',
};

async function setUp(overrides: Record<string, string> = {}) {
  const project = await makeProject({ ...files, ...overrides });
  projects.push(project);
  const run = await loadRun(project.path(runFile), fakeRegistry);
  const dir = project.path('results');
  await mkdir(dir);
  return { project, run, dir };
}

const noteOf = (run: Run, runId = '20260101T000000000Z-aa'): WrittenNote => ({
  run_id: runId,
  version: '0.1.0',
  created_at: '2026-01-01T00:00:00.000Z',
  fingerprint: fingerprintOf(runIdentity(run, source)),
  dataset: source,
});

const folderOf = (dir: string) => ({ dir, experimentDir: (name: string) => join(dir, name) });

async function write(run: Run, dir: string, note = noteOf(run)) {
  await writeRunConfigs(
    run,
    run.arms.map((arm) => arm.name),
    note,
    folderOf(dir),
  );
  return join(dir, `run_config.${note.run_id}.yaml`);
}

describe('writeRunConfigs', () => {
  it('writes the run and each of its experiments, and nothing for those that do not run', async () => {
    const { run, dir } = await setUp();
    await writeRunConfigs(run, ['writer-keyword'], noteOf(run, 'r1'), folderOf(dir));
    expect((await readdir(dir)).sort()).toEqual(['run_config.r1.yaml', 'writer-keyword']);
    expect(await readdir(join(dir, 'writer-keyword'))).toEqual(['experiment_config.r1.yaml']);
  });

  it('can be loaded again, with the same identity, settings, names and prompts', async () => {
    const { run, dir } = await setUp();
    const again = await loadRun(await write(run, dir), fakeRegistry);
    expect(runIdentity(again, source)).toEqual(runIdentity(run, source));
    const { matrix: _matrix, benchmark_config_file: _file, ...settings } = run.settings;
    expect(again.settings).toMatchObject(settings);
    expect(again.settings.heams).toEqual(noteOf(run));
    const names = ({ benchmark, arms }: Run) => [
      benchmark.name,
      ...arms.map((arm) => [arm.name, arm.agent.name, arm.memory.name]),
    ];
    expect(names(again)).toEqual([
      'pub quiz',
      ['writer-keyword', 'writer', 'keyword'],
      ['silent-keyword', 'mute', 'keyword'],
    ]);
  });

  it('gives an experiment a config of its own that runs that arm alone', async () => {
    const { run, dir } = await setUp();
    await write(run, dir, noteOf(run, 'r1'));
    const file = join(dir, 'silent-keyword', 'experiment_config.r1.yaml');
    expect((await loadRun(file, fakeRegistry)).arms.map((arm) => arm.name)).toEqual(['silent-keyword']);
  });

  it('is the same when what was loaded again is written again', async () => {
    const { project, run, dir } = await setUp();
    const first = await write(run, dir);
    const again = await loadRun(first, fakeRegistry);
    await mkdir(project.path('second'));
    const second = await write(again, project.path('second'), noteOf(run));
    expect(await readFile(second, 'utf8')).toBe(await readFile(first, 'utf8'));
  });

  it('makes paths absolute, so that the config runs from where it lies', async () => {
    const { project, run, dir } = await setUp();
    const again = await loadRun(await write(run, dir), fakeRegistry);
    expect(again.benchmark.options).toMatchObject({ dataset: { file: project.path('data/rows.jsonl') } });
  });

  it('keeps references to the environment, and no header value or password', async () => {
    const { run, dir } = await setUp();
    const text = await readFile(await write(run, dir), 'utf8');
    expect(text).not.toContain('hush');
    expect(text).toContain(`X-Key: ${keyReference}`);
    expect(text).toContain('Authorization: <redacted>');
    expect(text).toContain('base_url: http://<redacted>@host/v1');
  });

  it('keeps overrides', async () => {
    const { run, dir } = await setUp();
    const again = await loadRun(await write(withOverrides(run, { limit: 2, concurrency: 5 }), dir), fakeRegistry);
    expect(again.settings.concurrency).toBe(5);
    expect(again.benchmark.options).toMatchObject({ dataset: { limit: 2 } });
  });

  it('keeps every prompt to the letter', { timeout: 60_000 }, async () => {
    const { project, dir } = await setUp();
    const text = fc
      .array(
        fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 40 }),
          fc.constantFrom(
            '\n',
            '\n\n',
            '  ',
            '\t',
            ' \n',
            '\r\n',
            '#',
            ': ',
            '- ',
            '"',
            "'",
            '|',
            '---\n',
            '\u2028',
            '\ufeff',
            'word '.repeat(40),
          ),
        ),
        { minLength: 1, maxLength: 12 },
      )
      // Liquid is not what is tested here.
      .map((parts) => parts.join('').replace(/[{}]/g, ''))
      .filter((prompt) => prompt !== '');
    await fc.assert(
      fc.asyncProperty(text, async (instructions) => {
        await project.write('configs/agents/writer.yaml', JSON.stringify({ model_id: 'builtin:echo', instructions }));
        const run = await loadRun(project.path(runFile), fakeRegistry);
        expect(run.arms[0]?.agent.options).toMatchObject({ instructions });
        const again = await loadRun(await write(run, dir), fakeRegistry);
        expect(again.arms[0]?.agent.options).toMatchObject({ instructions });
      }),
      { numRuns: 40, examples: [[`\t${'word '.repeat(40)}\n`], [' \n'], [`${'x'.repeat(50)}\n \n`]] },
    );
  });
});

describe('resumableNote', () => {
  it('is nothing in a fresh folder, also with other things in it', async () => {
    const { project, run, dir } = await setUp({ 'results-x/run_config.txt': 'x' });
    expect(await resumableNote(dir, run, source, fakeRegistry)).toBeUndefined();
    await mkdir(join(dir, 'run_config.arm.yaml'));
    await project.write('results/notes.yaml', 'a: 1\n');
    expect(await resumableNote(dir, run, source, fakeRegistry)).toBeUndefined();
  });

  it('is the note of the same run', async () => {
    const { run, dir } = await setUp();
    await write(run, dir);
    expect(await resumableNote(dir, run, source, fakeRegistry)).toEqual(noteOf(run));
    expect(await resumableNote(dir, withOverrides(run, { limit: 1 }), source, fakeRegistry)).toEqual(noteOf(run));
  });

  it('is the newest note where there are several', async () => {
    const { run, dir } = await setUp();
    await write(run, dir, noteOf(run, '20260102T000000000Z-00'));
    await write(run, dir, noteOf(run, '20260101T000000000Z-ff'));
    expect((await resumableNote(dir, run, source, fakeRegistry))?.run_id).toBe('20260102T000000000Z-00');
  });

  it.each([
    [
      'configs/agents/writer.yaml',
      'You write',
      'Write',
      'experiments.writer-keyword.agent.instructions: "You write to',
    ],
    ['configs/memory/keyword.yaml', '3', '4', 'experiments.writer-keyword.memory.top_k: 3 -> 4'],
    [
      'configs/benchmarks/quiz.yaml',
      'openai:gpt',
      'openai:gpt-5',
      'benchmark.evaluator.judge_model_id: "openai:gpt" -> "openai:gpt-5"',
    ],
    [runFile, 'seed: 3', 'seed: 4', 'seed: 3 -> 4'],
  ])('refuses another run, and names what %s changed', async (file, from, to, line) => {
    const { project, run, dir } = await setUp();
    const before = await write(run, dir);
    await project.write(file, (files[file] as string).replace(from, to));
    const now = await loadRun(project.path(runFile), fakeRegistry);
    const problem = await problemOf(() => resumableNote(dir, now, source, fakeRegistry));
    expect(problem).toMatchObject({ code: 'resume_other_config', where: { file: before } });
    expect(problem.found).toContain(`\n    ${line}`);
    expect(problem.describe()).not.toContain('hush');
  });

  it('refuses another dataset', async () => {
    const { run, dir } = await setUp();
    await write(run, dir);
    const problem = await problemOf(() => resumableNote(dir, run, { ...source, sha256: 'abd' }, fakeRegistry));
    expect(problem.found).toBe('\n    dataset.sha256: "abc" -> "abd"');
  });

  it('refuses a folder whose config was damaged, and says where', async () => {
    const { project, run, dir } = await setUp();
    await write(run, dir);
    await project.write('results/run_config.z.yaml', 'name: smoke\nbenchmrk: {}\n');
    expect((await problemOf(() => resumableNote(dir, run, source, fakeRegistry))).where).toMatchObject({ line: 2 });
  });

  it('refuses a folder whose config carries no note', async () => {
    const { project, run, dir } = await setUp();
    await project.write(
      'results/run_config.z.yaml',
      (await readFile(await write(run, dir), 'utf8')).split('heams:')[0] as string,
    );
    const problem = await problemOf(() => resumableNote(dir, run, source, fakeRegistry));
    expect(problem.code).toBe('resume_other_config');
    expect(problem.found).toContain('dataset.sha256: (absent) -> "abc"');
  });
});
