import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCiMetrics } from '../src/benchmarks/contextual-integrity/metrics.ts';
import { readRecords } from '../src/store/records.ts';
import { judgedRunFiles } from './support/judged-run.ts';
import { type Loopback, startLoopback } from './support/loopback-chat.ts';
import { ruleAnswer } from './support/loopback-judge.ts';
import { makeProject, type Project, readJsonLines, runCli } from './support/project.ts';

const args = ['run', '--config', 'configs/runs/judged.yaml', '--output-dir', 'results', '--quiet'];

describe('a model server that fails in every way at once', () => {
  let storm: Loopback;
  let project: Project;

  beforeAll(async () => {
    storm = await startLoopback({
      latencyMs: 5,
      answer: ruleAnswer,
      faults: { seed: 3, rateLimit: 0.1, retryAfterS: 1, serverError: 0.05, drop: 0.02, hang: 0.01, malformed: 0.3 },
    });
    project = await makeProject(await judgedRunFiles({ baseUrl: storm.baseUrl, concurrency: 32, timeoutS: 2 }));
  });

  afterAll(async () => {
    await storm.close();
    await project.remove();
  });

  it('loses no sample, doubles none, and counts what could not be judged', { timeout: 180_000 }, async () => {
    let code = (await runCli(args, project.dir)).code;
    // Failures, if any, are tried again by the same command.
    for (let again = 0; code === 1 && again < 3; again++) code = (await runCli(args, project.dir)).code;
    expect(code).toBe(0);
    expect(Object.keys(storm.stats.byKind).sort()).toEqual(
      ['answered', 'drop', 'hang', 'malformed', 'rate_limit', 'server_error'].sort(),
    );

    const file = project.path('results/arm/runs.jsonl');
    const done = (await readJsonLines(file)).filter((record) => record.status === 'done');
    expect(new Set(done.map((record) => record.sample_id)).size).toBe(72);
    expect(done.length).toBe(72);

    const metrics = createCiMetrics({ bootstrapSeed: 0 });
    let unjudged = 0;
    for await (const record of readRecords(file)) {
      metrics.add(record);
      unjudged += JSON.stringify(record).split('"status":"unjudged"').length - 1;
    }
    const { counts, unjudged: groups, leakage } = metrics.result();
    expect(counts).toMatchObject({ records: 72, done: 72, failed: 0 });
    expect(unjudged).toBeGreaterThan(0);
    expect(groups.reduce((sum, group) => sum + group.count, 0)).toBe(unjudged);
    expect(leakage.overall.denominator + leakage.overall.unjudged).toBe(counts.secrets);
  });
});
