import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgedRunFiles } from '../../test/support/judged-run.ts';
import { type Loopback, startLoopback } from '../../test/support/loopback-chat.ts';
import { ruleAnswer } from '../../test/support/loopback-judge.ts';
import { makeProject, type Project, readJsonLines } from '../../test/support/project.ts';
import { packageRoot } from '../lib/shipped.ts';
import { exit } from './io.ts';
import { buildProgram } from './program.ts';
import { reportError } from './report-error.ts';

/** Calls the command line in this process. */
async function heams(cwd: string, ...args: string[]) {
  const out: string[] = [];
  const notes: string[] = [];
  let code: number | undefined;
  const io = {
    out: (line: string) => void out.push(line),
    note: (line: string) => void notes.push(line),
    terminal: false,
    env: { OPENAI_API_KEY: 'unused' },
    cwd,
    command: 'npx heams',
  };
  await buildProgram(io, (done) => {
    code = done;
  })
    .parseAsync(args, { from: 'user' })
    .catch((error: unknown) => {
      code = reportError(error, io);
    });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
}

describe('heams run', { timeout: 60_000 }, () => {
  let server: Loopback;
  let project: Project;
  let refused = false;
  const config = ['--config', 'configs/runs/judged.yaml'];
  const run = (...args: string[]) => heams(project.dir, 'run', ...config, ...args);

  beforeAll(async () => {
    server = await startLoopback({
      answer: ruleAnswer,
      raw: ({ body }) =>
        refused && body.model === 'agent'
          ? { status: 401, body: '{"error":{"message":"Incorrect API key"}}' }
          : undefined,
    });
    project = await makeProject(await judgedRunFiles({ baseUrl: server.baseUrl, concurrency: 2 }));
  });
  afterAll(async () => {
    await server.close();
    await project.remove();
  });

  it('stops when the key is refused, says why on the terminal and as JSON, and goes on once it is mended', async () => {
    refused = true;
    const before = server.stats.requests;
    const first = await run('--output-dir', 'refused', '--limit', '30');
    expect(first.code).toBe(exit.stopped);
    // Five in a row, and what was in flight beside the fifth.
    expect(server.stats.requests - before).toBeLessThanOrEqual(6);
    expect(first.out).toMatch(/^0 of 30 samples done, [56] failed\. Results: refused\n/);
    expect(first.out).toMatch(
      /\n {2}agent +model_auth +[56] +arm +openai-compatible:agent: HTTP 401: Incorrect API key/,
    );
    expect(first.out).toContain(
      'It was stopped, as every further sample would fail in the same way: 5 samples in a row',
    );
    const status = JSON.parse(await readFile(project.path('refused/arm/run_status.json'), 'utf8'));
    expect(status).toMatchObject({ state: 'stopped', stop_reason: 'refused', done: 0 });

    const again = await run('--output-dir', 'refused', '--limit', '30', '--json');
    const told = JSON.parse(again.out);
    expect(told).toMatchObject({ exit_code: exit.stopped, stop_reason: 'refused' });
    expect(told.failures).toEqual([
      {
        stage: 'agent',
        code: 'model_auth',
        count: expect.any(Number),
        experiments: ['arm'],
        message: expect.stringContaining('Incorrect API key'),
      },
    ]);
    refused = false;
    const mended = await run('--output-dir', 'refused', '--limit', '30', '--json');
    expect(JSON.parse(mended.out)).toMatchObject({ exit_code: exit.done, failures: [] });
    await heams(project.dir, 'generate-report', '--results-dir', 'refused');
    expect(await readFile(project.path('refused/arm/report.md'), 'utf8')).not.toContain('## Incomplete');
  });

  it('names the command as the user can give it, and what a report can tell of the setup', async () => {
    const { out } = await run('--output-dir', 'named', '--limit', '2');
    expect(out).toContain('Next: npx heams generate-report --results-dir named');
    expect(out).toContain('      npx heams rollup --results-dir named\n      npx heams view named');
    await heams(project.dir, 'generate-report', '--results-dir', 'named');
    const report = await readFile(project.path('named/arm/report.md'), 'utf8');
    expect(report).toContain('| Agent model, as configured | `openai-compatible:agent` |');
    expect(report).toContain('| Judge model | `openai-compatible:judge` |');
    expect(report).toMatch(/\| Dataset \| `heams_scenarios`, 2 samples taken, sha256 `[0-9a-f]{12}` \|/);
  });

  it('plans what is left to do in the folder, without a request or a trace', async () => {
    await run('--output-dir', 'half', '--limit', '3');
    const before = [server.stats.requests, (await readdir(project.path('half'))).sort()];
    const { code, out } = await run('--output-dir', 'half', '--limit', '5', '--dry-run', '--json');
    expect(code).toBe(exit.done);
    const plan = JSON.parse(out);
    expect(plan).toMatchObject({ jobs: 2, done: 3, samples: 5, arms: ['arm'], warnings: [] });
    expect(plan.models.find(({ role }: { role: string }) => role === 'agent')).toMatchObject({ calls: 2 });
    const { out: text } = await run('--output-dir', 'half', '--limit', '5', '--dry-run');
    expect(text).toContain('Plan: 2 samples to run (5 samples, 1 arm: arm); 3 more are done already in half');
    expect([server.stats.requests, (await readdir(project.path('half'))).sort()]).toEqual(before);
  });

  it('counts in a plan what memories and defences ask of their models', async () => {
    const shipped = (path: string) => join(packageRoot(), 'configs', path);
    await project.write('asking.yaml', {
      name: 'asking',
      benchmark_config_file: shipped('benchmarks/demo/contextual_integrity.yaml'),
      experiments: [
        {
          name: 'arm',
          agent_config_file: shipped('agents/dump.yaml'),
          memory_config_file: shipped('memory/summary.yaml'),
          defence_config_file: shipped('defences/minimiser.yaml'),
        },
      ],
    });
    const args = ['--config', 'asking.yaml', '--output-dir', 'asking', '--dry-run', '--limit', '3', '--json'];
    const { out } = await heams(project.dir, 'run', ...args);
    const { models } = JSON.parse(out) as { models: { role: string; calls: number }[] };
    expect(models.map(({ role, calls }) => [role, calls])).toEqual([
      ['memory', 3],
      ['defence', 3],
    ]);
  });

  it('refuses in a dry run what the run would refuse', async () => {
    await project.write('taken', 'a file');
    const file = await run('--output-dir', 'taken', '--dry-run');
    expect(file).toMatchObject({ code: exit.badInput, notes: expect.stringContaining('the output folder is a file') });

    await run('--output-dir', 'other', '--limit', '1');
    const agent = await readFile(project.path('configs/agents/agent.yaml'), 'utf8');
    await writeFile(project.path('configs/agents/agent.yaml'), `${agent}temperature: 1.5\n`);
    const other = await run('--output-dir', 'other', '--dry-run');
    await writeFile(project.path('configs/agents/agent.yaml'), agent);
    expect(other).toMatchObject({ code: exit.badInput, notes: expect.stringContaining('another configuration') });

    const priced = await run('--output-dir', 'new', '--dry-run', '--max-cost-usd', '1');
    expect(priced).toMatchObject({ code: exit.badInput, notes: expect.stringContaining('price') });
    expect(await readdir(project.dir)).not.toContain('new');
  });

  it.each(['run', 'dry-run', 'validate'])('refuses a cache that cannot be written to (%s)', async (how) => {
    const own = await makeProject({
      ...(await judgedRunFiles({ baseUrl: server.baseUrl, extra: { cache_dir: '/dev/null/cache' } })),
    });
    const before = server.stats.requests;
    const args = how === 'validate' ? [] : ['--output-dir', 'out', ...(how === 'dry-run' ? ['--dry-run'] : [])];
    const { code, notes } = await heams(own.dir, how === 'validate' ? how : 'run', ...config, ...args);
    expect(code).toBe(exit.badInput);
    expect(notes).toContain('what should be a folder above the cache folder is a file');
    expect(notes).toContain('cache_dir');
    expect(server.stats.requests).toBe(before);
    expect(await readdir(own.dir)).not.toContain('out');
    await own.remove();
  });

  it('says before it starts where top_k is at or above the pool, unless a haystack makes it larger', async () => {
    const own = await makeProject(
      await judgedRunFiles({ baseUrl: server.baseUrl, memory: { backend: 'bm25', top_k: 7 } }),
    );
    const note = /Note: memory memory: for [1-9]\d* of 72 samples top_k 7 is at or above the pool/;
    for (const args of [['validate'], ['run', '--output-dir', 'out', '--dry-run']]) {
      const { code, notes } = await heams(own.dir, ...args, ...config);
      expect([code, notes]).toEqual([exit.done, expect.stringMatching(note)]);
    }
    const { notes } = await heams(own.dir, 'run', ...config, '--output-dir', 'out', '--limit', '2');
    expect(notes).toMatch(/for 2 of 2 samples top_k 7/);
    const json = await heams(own.dir, 'validate', ...config, '--json');
    expect(JSON.parse(json.out).warnings).toEqual([expect.stringMatching(/at or above the pool/)]);

    const benchmark = await readFile(own.path('configs/benchmarks/judged.yaml'), 'utf8');
    await writeFile(own.path('configs/benchmarks/judged.yaml'), `${benchmark}haystack: 20\nsessions: 4\n`);
    expect((await heams(own.dir, 'validate', ...config)).notes).toBe('');
    // Another pool is another run.
    expect((await heams(own.dir, 'run', ...config, '--output-dir', 'out')).notes).toContain('benchmark.haystack');
    const ran = await heams(own.dir, 'run', ...config, '--output-dir', 'large', '--limit', '2', '--json');
    expect(JSON.parse(ran.out)).toMatchObject({ exit_code: exit.done });
    const records = await readJsonLines(own.path('large/arm/runs.jsonl'));
    for (const { facts, stored } of records as { facts: { distractor?: true; at?: string }[]; stored: unknown[] }[]) {
      expect(facts.filter(({ distractor }) => distractor)).toHaveLength(20);
      expect(facts.every(({ at }) => at !== undefined)).toBe(true);
      expect(stored).toHaveLength(facts.length);
    }
    const resumed = await heams(own.dir, 'run', ...config, '--output-dir', 'large', '--limit', '3', '--json');
    expect(JSON.parse(resumed.out)).toMatchObject({ planned: 3, resumed: 2 });
    await own.remove();
  });
});

describe('heams init', () => {
  it('writes a project whose files say what they are, and the commands to go on with', async () => {
    const project = await makeProject();
    const { out } = await heams(project.dir, 'init', '--dir', 'mine', '--provider', 'openai-compatible');
    const read = (name: string) => readFile(project.path('mine', name), 'utf8');
    expect(await read('.gitignore')).toBe('# Keys, and what runs write.\n.env\nresults/\n');
    const benchmark = await read('configs/benchmarks/my_benchmark.yaml');
    expect(benchmark).toMatch(/^# Contextual Integrity on your own scenarios/);
    expect(benchmark.slice(0, 600)).not.toContain('come with HEAMS');
    for (const file of [benchmark, await read('configs/agents/assistant.yaml')]) {
      expect(file).toMatch(
        /model_id: openai-compatible:llama3\.1\n( *)base_url: .*\n\1timeout_s: 300\n\1max_connections: 2\n/,
      );
    }
    expect(out.slice(out.indexOf('Next'))).toBe(
      [
        'Next',
        '  cd mine',
        '  npx heams validate --config configs/runs/my_run.yaml',
        '  npx heams run --config configs/runs/my_run.yaml --output-dir results/my_run',
        '  npx heams generate-report --results-dir results/my_run',
        '  npx heams rollup --results-dir results/my_run',
        '  npx heams view results/my_run',
      ].join('\n'),
    );
    expect((await heams(project.path('mine'), 'validate', '--config', 'configs/runs/my_run.yaml')).code).toBe(0);
    await project.remove();
  });
});
