import { cp, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type Project, readJsonLines, runCli } from './support/project.ts';
import { stripped } from './support/strip.ts';

const benchmark = {
  benchmark: 'contextual_integrity',
  dataset: { bundled: 'heams_scenarios' },
  user_task_prompt: '{{ user_task }}',
  evaluator: { type: 'ci_string_match' },
};
const runFile = (seed: number) => ({
  name: 'sharded',
  seed,
  benchmark,
  experiments: [
    { name: 'dump', agent: { name: 'a', kind: 'dump' }, memory: { name: 'm', backend: 'full_context' } },
    { name: 'words', agent: { name: 'a', kind: 'dump' }, memory: { name: 'm', backend: 'bm25', top_k: 3 } },
  ],
});

describe('heams run --shard and heams merge', { timeout: 120_000 }, () => {
  let project: Project;
  const heams = (...args: string[]) => runCli(args, project.dir);
  const shards = Array.from({ length: 8 }, (_, i) => `s${i + 1}`);
  const run = (out: string, ...more: string[]) =>
    heams('run', '--config', 'run.yaml', '--output-dir', out, '--quiet', ...more);
  beforeAll(async () => {
    project = await makeProject({ 'run.yaml': runFile(1), 'other.yaml': runFile(2) });
    expect((await run('whole')).code).toBe(0);
    for (const [i, out] of shards.entries()) expect((await run(out, '--shard', `${i + 1}/8`)).code).toBe(0);
  });
  afterAll(() => project.remove());

  it('gives the records and the metrics of the run in one piece', async () => {
    const merged = await heams('merge', ...[...shards].reverse(), '--output-dir', 'merged', '--json');
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(merged.stdout)).toMatchObject({
      doubles: 0,
      experiments: [
        { planned: 72, done: 72, failed: 0, missing: [] },
        { planned: 72, done: 72, failed: 0, missing: [] },
      ],
    });
    for (const arm of ['dump', 'words']) {
      const records = async (dir: string) => (await readJsonLines(project.path(dir, arm, 'runs.jsonl'))).map(stripped);
      const whole = (await records('whole')) as { key: string }[];
      const ofShards = (await records('merged')) as { key: string }[];
      const sorted = (list: { key: string }[]) => [...list].sort((a, b) => (a.key < b.key ? -1 : 1));
      expect(sorted(ofShards)).toEqual(sorted(whole));
    }
    for (const dir of ['whole', 'merged']) expect((await heams('rollup', '--results-dir', dir)).code).toBe(0);
    const metrics = async (dir: string) =>
      stripped(JSON.parse(await readFile(project.path(dir, '_rollup/ci/metrics.json'), 'utf8')));
    expect(await metrics('merged')).toEqual(await metrics('whole'));
    // Nothing is left to do: the folder is one of the run itself.
    const resumed = await run('merged', '--json');
    expect(JSON.parse(resumed.stdout)).toMatchObject({ planned: 144, resumed: 144 });
  });

  it('says what is missing, and drops doubles', async () => {
    await cp(project.path('s2'), project.path('s2-again'), { recursive: true });
    const { code, stdout } = await heams('merge', ...shards.slice(1), 's2-again', '--output-dir', 'gaps', '--json');
    expect(code).toBe(3);
    const report = JSON.parse(stdout);
    const lines = async (dir: string) => readJsonLines(project.path(dir, 'dump', 'runs.jsonl'));
    const missing = report.experiments[0].missing.map((one: { sample_id: string }) => one.sample_id);
    expect(missing.sort()).toEqual((await lines('s1')).map((record) => String(record.sample_id)).sort());
    expect(report.doubles).toBe(2 * (await lines('s2')).length);
    expect((await lines('gaps')).length).toBe(72 - missing.length);
    expect(await run('gaps')).toMatchObject({ code: 0 });
    expect((await lines('gaps')).length).toBe(72);
  });

  it('takes a done record before a failed one, whichever comes first', async () => {
    const file = project.path('s3f', 'dump', 'runs.jsonl');
    expect((await run('s3f', '--shard', '3/8')).code).toBe(0);
    const failed = (await readJsonLines(file)).map(({ grade: _, ...record }) => ({
      ...record,
      status: 'failed',
      error: { stage: 'agent', code: 'x', message: 'x' },
    }));
    await writeFile(file, failed.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const both = await heams('merge', 's3f', ...shards, '--output-dir', 'both', '--json');
    expect(JSON.parse(both.stdout)).toMatchObject({ exit_code: 0, experiments: [{ done: 72, failed: 0 }, {}] });
    const rest = shards.filter((name) => name !== 's3');
    expect((await heams('merge', 's3f', ...rest, '--output-dir', 'failures')).code).toBe(1);
  });

  it('refuses mixed configurations, folders of no run, and an output folder in use', async () => {
    const other = ['run', '--config', 'other.yaml', '--output-dir', 'other', '--shard', '1/8', '--quiet'];
    expect((await heams(...other)).code).toBe(0);
    for (const [args, said] of [
      [['s2', 'other', '--output-dir', 'o1'], 'seed: 1 -> 2'],
      [['s2', 'nowhere', '--output-dir', 'o2'], 'this is no folder of a run'],
      [['s2', '--output-dir', 's3'], 'the output folder holds a run already'],
    ] as const) {
      const { code, stderr } = await heams('merge', ...args);
      expect(stderr).toContain(said);
      expect(code).toBe(2);
    }
    expect((await run('bad', '--shard', '9/8')).code).toBe(2);
  });
});
