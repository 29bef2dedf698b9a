import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../src/lib/clock.ts';
import { seededRandom } from '../src/lib/random.ts';
import { judgedRunFiles } from './support/judged-run.ts';
import { type Loopback, startLoopback } from './support/loopback-chat.ts';
import { ruleAnswer } from './support/loopback-judge.ts';
import { makeProject, type Project, readJsonLines, runCli, startCli } from './support/project.ts';
import { byKey } from './support/strip.ts';

const CONNECTIONS = 16;
const KILLS = 10;
const args = ['run', '--config', 'configs/runs/judged.yaml', '--output-dir', 'results', '--quiet'];

describe('a run that is killed', () => {
  let server: Loopback;
  let whole: Project;
  let killed: Project;
  let wholeCalls: number;

  beforeAll(async () => {
    server = await startLoopback({ latencyMs: 150, answer: ruleAnswer });
    const files = await judgedRunFiles({ baseUrl: server.baseUrl, concurrency: 8, maxConnections: CONNECTIONS });
    [whole, killed] = [await makeProject(files), await makeProject(files)];
    expect((await runCli(args, whole.dir)).stderr).toBe('');
    wholeCalls = server.stats.requests;
  }, 120_000);

  afterAll(async () => {
    await server.close();
    await Promise.all([whole.remove(), killed.remove()]);
  });

  it('has, after ten SIGKILLs and a resume, the records of one that was left alone', { timeout: 240_000 }, async () => {
    const random = seededRandom('kill', 1);
    let midway = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const run = startCli(args, killed.dir);
      await systemClock.sleep(450 + 900 * random());
      run.kill('SIGKILL');
      if ((await run.result).signal === 'SIGKILL') midway += 1;
    }
    expect(midway).toBeGreaterThanOrEqual(5);
    const last = await runCli(args, killed.dir);
    expect(last).toMatchObject({ code: 0 });

    const expected = await readJsonLines(whole.path('results/arm/runs.jsonl'));
    const got = await readJsonLines(killed.path('results/arm/runs.jsonl'));
    expect(got.length).toBe(72);
    expect(byKey(got)).toEqual(byKey(expected));
    // What was in flight at a kill was paid for and lost: at most one call for each connection.
    expect(server.stats.requests - 2 * wholeCalls).toBeLessThanOrEqual(KILLS * CONNECTIONS);

    for (const project of [whole, killed]) {
      expect((await runCli(['rollup', '--results-dir', 'results'], project.dir)).code).toBe(0);
    }
    expect((await readdir(killed.path('results'))).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('Ctrl-C', () => {
  it('once stops cleanly with 130, keeps what is done, and the same command finishes', {
    timeout: 60_000,
  }, async () => {
    const server = await startLoopback({ latencyMs: 100, answer: ruleAnswer });
    const files = await judgedRunFiles({ baseUrl: server.baseUrl, concurrency: 4, maxConnections: 8 });
    const project = await makeProject(files);
    try {
      const run = startCli(args, project.dir);
      while (server.stats.requests < 60) await systemClock.sleep(20);
      run.kill('SIGINT');
      const first = await run.result;
      expect(first.code).toBe(130);
      expect(first.stderr).toContain('Stopping');
      const done = (await readJsonLines(project.path('results/arm/runs.jsonl'))).length;
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(72);
      const [status] = await readJsonLines(project.path('results/arm/run_status.json')).catch(() => []);
      expect(status).toBeUndefined();
      expect((await runCli(args, project.dir)).code).toBe(0);
      expect((await readJsonLines(project.path('results/arm/runs.jsonl'))).length).toBe(72);
    } finally {
      await server.close();
      await project.remove();
    }
  });

  it('gives up what hangs after five seconds; twice stops at once', { timeout: 60_000 }, async () => {
    const server = await startLoopback({ faults: { hang: 1 } });
    const project = await makeProject(await judgedRunFiles({ baseUrl: server.baseUrl, concurrency: 4 }));
    try {
      const patient = startCli(args, project.dir);
      while (server.stats.requests < 4) await systemClock.sleep(20);
      patient.kill('SIGINT');
      expect((await patient.result).code).toBe(130);
      const seen = server.stats.requests;
      const hasty = startCli(args, project.dir);
      while (server.stats.requests < seen + 4) await systemClock.sleep(20);
      hasty.kill('SIGINT');
      await hasty.printed('Stopping');
      hasty.kill('SIGINT');
      expect((await hasty.result).code).toBe(130);
    } finally {
      await server.close();
      await project.remove();
    }
  });
});
