import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgedRunFiles } from './support/judged-run.ts';
import { type Loopback, startLoopback } from './support/loopback-chat.ts';
import { ruleAnswer } from './support/loopback-judge.ts';
import { makeProject, type Project, readJsonLines, runCli, startCli } from './support/project.ts';

const smoke = 'configs/runs/testing/contextual_integrity_smoke.yaml';

describe('heams', { timeout: 60_000 }, () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject();
  });
  afterAll(() => project.remove());

  it('prints its help and version with exit code 0', async () => {
    const help = await runCli(['--help'], project.dir);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const verb of ['demo', 'run', 'generate-report', 'rollup', 'validate', 'list', 'init', 'data']) {
      expect(help.stdout).toMatch(new RegExp(`^ {2}${verb} `, 'm'));
    }
    expect(await runCli(['--version'], project.dir)).toMatchObject({ code: 0, stdout: '0.1.0\n' });
  });

  it.each([[['bogus']], [['run']], [['run', '--config', 'x', '--output-dir', 'y', '--limit', '0']], [[]]])(
    'answers %j with exit code 2 and no stack trace',
    async (args) => {
      const { code, stderr } = await runCli(args, project.dir);
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );

  it('names the missing key, who needs it, and the two ways on, before anything starts', async () => {
    const { code, stderr } = await runCli(['run', '--config', smoke, '--output-dir', 'keyless'], project.dir);
    expect(code).toBe(2);
    expect(stderr).toContain('OPENAI_API_KEY is not set');
    expect(stderr).toContain('agent assistant (openai:gpt-4o-mini)');
    expect(stderr).toContain('judge contextual_integrity (openai:gpt-4o-mini)');
    expect(stderr).toContain('heams demo');
    expect(stderr).toContain('openai-compatible');
    expect(await readdir(project.dir)).not.toContain('keyless');
  });

  it('reads .env in the working folder, and lets the environment win', async () => {
    const own = await makeProject({ '.env': 'OPENAI_API_KEY=from-file\nHF_HUB_OFFLINE=1\n' });
    // The key is there, so what is missing now is the dataset.
    const { code, stderr } = await runCli(['validate', '--config', smoke], own.dir);
    expect(code).toBe(2);
    expect(stderr).not.toContain('OPENAI_API_KEY is not set');
    expect(stderr).not.toContain('from-file');
    const emptied = await runCli(['validate', '--config', smoke], own.dir, { OPENAI_API_KEY: '' });
    expect(emptied.stderr).toContain('OPENAI_API_KEY is not set');
    await own.remove();
  });

  it('lists what there is, for people and for programs', async () => {
    const { stdout } = await runCli(['list', '--json'], project.dir);
    const groups = JSON.parse(stdout) as Record<string, { name: string; needs: string }[]>;
    const names = (group: string) => groups[group]?.map(({ name }) => name);
    expect(names('memories')).toEqual(
      expect.arrayContaining(['no_memory', 'full_context', 'bm25', 'vector', 'hybrid']),
    );
    expect(names('agents')).toEqual(expect.arrayContaining(['llm', 'silent', 'dump', 'oracle', 'redacted']));
    expect(
      Object.values(groups)
        .flat()
        .every(({ needs }) => needs.length > 0),
    ).toBe(true);
    expect((await runCli(['list'], project.dir)).stdout).toContain('full_context');
  });

  it.each(['openai', 'anthropic', 'google', 'openai-compatible'])(
    'init writes a project for %s that is valid, and never replaces a file',
    async (provider) => {
      const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };
      const made = await runCli(['init', '--dir', provider, '--provider', provider], project.dir);
      expect(made.code).toBe(0);
      const dir = project.path(provider);
      const valid = await runCli(['validate', '--config', 'configs/runs/my_run.yaml', '--json'], dir, env);
      expect(valid.stderr).toBe('');
      expect(JSON.parse(valid.stdout)).toMatchObject({ valid: true, samples: 2 });
      const again = await runCli(['init', '--dir', provider, '--provider', provider], project.dir);
      expect(again.code).toBe(2);
      expect(again.stderr).toContain('there already');
    },
  );
});

describe('heams run', { timeout: 60_000 }, () => {
  let server: Loopback;
  let project: Project;
  const config = ['--config', 'configs/runs/judged.yaml'];

  beforeAll(async () => {
    server = await startLoopback({ answer: ruleAnswer });
    project = await makeProject(await judgedRunFiles({ baseUrl: server.baseUrl }));
  });
  afterAll(async () => {
    await server.close();
    await project.remove();
  });

  const run = (...args: string[]) => runCli(['run', ...config, ...args], project.dir);

  it('plans without starting anything', async () => {
    const before = server.stats.requests;
    const { code, stdout } = await run('--output-dir', 'dry', '--dry-run', '--limit', '3', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: 3, samples: 3, arms: ['arm'], all_models_priced: false });
    expect(server.stats.requests).toBe(before);
    expect(await readdir(project.dir)).not.toContain('dry');
  });

  it('writes the documented files, goes on with more samples, and reports from the records alone', async () => {
    const first = await run('--output-dir', 'results', '--limit', '3', '--json');
    expect(first.code).toBe(0);
    const { run_id } = JSON.parse(first.stdout) as { run_id: string };
    const more = await run('--output-dir', 'results', '--limit', '5', '--json');
    expect(JSON.parse(more.stdout)).toMatchObject({ run_id, planned: 5, resumed: 3, exit_code: 0 });

    for (const verb of ['generate-report', 'rollup']) {
      expect((await runCli([verb, '--results-dir', 'results'], project.dir)).code).toBe(0);
    }
    const all = (await readdir(project.path('results'), { recursive: true })).sort();
    const expected = [
      '_rollup',
      '_rollup/ci',
      '_rollup/ci/metrics.csv',
      '_rollup/ci/metrics.json',
      '_rollup/ci/report.html',
      '_rollup/ci/report.md',
      'arm',
      `arm/experiment_config.${run_id}.yaml`,
      'arm/report.html',
      'arm/report.md',
      'arm/run_status.json',
      'arm/runs.jsonl',
      `run_config.${run_id}.yaml`,
    ];
    expect(all).toEqual(expected.sort());
    expect((await readJsonLines(project.path('results/arm/runs.jsonl'))).length).toBe(5);
  });

  it('can run again from the config that it wrote', async () => {
    const [written] = (await readdir(project.path('results'))).filter((name) => name.startsWith('run_config.'));
    const again = ['run', '--config', `results/${written}`, '--output-dir', 'again', '--limit', '2', '--json'];
    expect((await runCli(again, project.dir)).code).toBe(0);
    const [old, fresh] = [
      await readJsonLines(project.path('results/arm/runs.jsonl')),
      await readJsonLines(project.path('again/arm/runs.jsonl')),
    ];
    expect(fresh.map(({ key }) => key).sort()).toEqual(
      old
        .slice(0, 0)
        .concat(fresh)
        .map(({ key }) => key)
        .sort(),
    );
    expect(old.map(({ key }) => key)).toEqual(expect.arrayContaining(fresh.map(({ key }) => key)));
  });

  it('refuses a folder of another configuration and says what differs', async () => {
    const agent = await readFile(project.path('configs/agents/agent.yaml'), 'utf8');
    await project.write('configs/agents/agent.yaml', `${agent}temperature: 1.5\n`);
    const { code, stderr } = await run('--output-dir', 'results');
    await project.write('configs/agents/agent.yaml', agent);
    expect(code).toBe(2);
    expect(stderr).toContain('another configuration');
    expect(stderr).toContain('experiments.arm.agent.temperature: (absent) -> 1.5');
  });

  it('refuses an output folder that is a file', async () => {
    await project.write('taken', 'a file');
    const { code, stderr } = await run('--output-dir', 'taken');
    expect(code).toBe(2);
    expect(stderr).toContain('is a file');
  });

  it('refuses a folder that another run is using', async () => {
    const slow = await startLoopback({ latencyMs: 300, answer: ruleAnswer });
    const own = await makeProject(await judgedRunFiles({ baseUrl: slow.baseUrl, maxConnections: 4 }));
    const args = ['run', ...config, '--output-dir', 'results', '--quiet'];
    const first = startCli(args, own.dir);
    while (slow.stats.requests === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await runCli(args, own.dir);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('in use by another run');
    first.kill('SIGKILL');
    await first.result;
    await slow.close();
    await own.remove();
  });

  it('stops at a budget with 3, and the same command with a higher one finishes', async () => {
    const files = await judgedRunFiles({
      baseUrl: server.baseUrl,
      concurrency: 2,
      extra: { budget: { max_calls: 60 } },
    });
    const own = await makeProject(files);
    const args = ['run', ...config, '--output-dir', 'results', '--limit', '12'];
    const before = server.stats.requests;
    const { code, stdout } = await runCli(args, own.dir);
    expect(code).toBe(3);
    expect(stdout).toContain('The budget is spent');
    expect(server.stats.requests - before).toBeLessThanOrEqual(60);
    const status = JSON.parse(await readFile(own.path('results/arm/run_status.json'), 'utf8'));
    expect(status).toMatchObject({ state: 'stopped', stop_reason: 'budget' });
    const rich = await judgedRunFiles({
      baseUrl: server.baseUrl,
      concurrency: 2,
      extra: { budget: { max_calls: 600 } },
    });
    for (const [name, content] of Object.entries(rich)) await own.write(name, content);
    expect((await runCli(args, own.dir)).code).toBe(0);
    expect((await readJsonLines(own.path('results/arm/runs.jsonl'))).length).toBe(12);
    await own.remove();
  });

  it('records a sample whose agent cannot be reached as failed, ends with 1, and tries it again', async () => {
    let broken = true;
    const moody = await startLoopback({
      answer: ruleAnswer,
      raw: ({ body }) =>
        broken && body.model === 'agent' ? { status: 400, body: '{"error":{"message":"no"}}' } : undefined,
    });
    const own = await makeProject(await judgedRunFiles({ baseUrl: moody.baseUrl }));
    const args = ['run', ...config, '--output-dir', 'results', '--limit', '4', '--json'];
    const first = await runCli(args, own.dir);
    expect(first.code).toBe(1);
    const failed = await readJsonLines(own.path('results/arm/runs.jsonl'));
    expect(failed.map(({ status, error }) => [status, (error as { stage: string }).stage])).toEqual(
      Array.from({ length: 4 }, () => ['failed', 'agent']),
    );
    const limited = await runCli([...args, '--max-failures', '1', '--concurrency', '1'], own.dir);
    expect(limited.code).toBe(3);
    broken = false;
    expect((await runCli(args, own.dir)).code).toBe(0);
    await moody.close();
    await own.remove();
  });

  it('ends with 3 when the budget is spent before the first record, and the next sitting goes on from there', async () => {
    const files = await judgedRunFiles({
      baseUrl: server.baseUrl,
      concurrency: 1,
      extra: { budget: { max_calls: 3 } },
    });
    const own = await makeProject(files);
    const args = ['run', ...config, '--output-dir', 'results', '--limit', '1'];
    const before = server.stats.requests;
    const first = await runCli(args, own.dir);
    expect(first.code).toBe(3);
    expect(first.stdout).toContain('The budget is spent');
    expect(server.stats.requests - before).toBe(3);
    // The same budget has nothing left; a higher one pays for the rest alone.
    expect((await runCli(args, own.dir)).code).toBe(3);
    expect(server.stats.requests - before).toBe(3);
    const rich = await judgedRunFiles({
      baseUrl: server.baseUrl,
      concurrency: 1,
      extra: { budget: { max_calls: 99 } },
    });
    for (const [name, content] of Object.entries(rich)) await own.write(name, content);
    expect((await runCli(args, own.dir)).code).toBe(0);
    const [record] = await readJsonLines(own.path('results/arm/runs.jsonl'));
    const { usage } = record as { usage: Record<string, { calls: number }> };
    expect(server.stats.requests - before).toBe(Object.values(usage).reduce((sum, { calls }) => sum + calls, 0));
    await own.remove();
  });

  it('can be interrupted while the dataset is still on its way', async () => {
    const hub = await startLoopback({ latencyMs: 60_000 });
    const own = await makeProject({
      ...(await judgedRunFiles({ baseUrl: server.baseUrl, dataset: { hub: 'a/b' } })),
    });
    const run = startCli(['run', ...config, '--output-dir', 'results'], own.dir, { HF_ENDPOINT: hub.url });
    while (hub.stats.requests === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    run.kill('SIGINT');
    const { code, stderr } = await run.result;
    expect(code).toBe(130);
    expect(stderr).not.toContain('defect');
    await hub.close();
    await own.remove();
  });
});
