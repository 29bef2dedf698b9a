import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExecutedRun, executeRun } from '../src/config/execute-run.ts';
import { loadRun } from '../src/config/load-run.ts';
import { builtinRegistry, loadReporters, type Registry } from '../src/config/registry.ts';
import { writeExperimentReports, writeRollups } from '../src/report/write-reports.ts';
import { type CiMetrics, ciRollupSchema } from '../src/schema/ci-metrics.ts';
import { faultyMemories } from './support/faulty-memories.ts';
import { makeProject, type Project, readJsonLines, runCli, testHost } from './support/project.ts';

const SAMPLES = 12;
/** By backend, the stage and the code under which every one of its samples fails. */
const expected: Record<string, [stage: string, code: string]> = {
  never_ready: ['prime', 'memory_not_ready'],
  drops_a_write: ['prime', 'memory_lost_facts'],
  finds_what_is_anothers: ['agent', 'memory_foreign_item'],
  lists_what_is_anothers: ['prime', 'memory_foreign_item'],
  opens_late: ['memory', 'memory_timeout'],
  writes_late: ['prime', 'memory_timeout'],
  searches_late: ['agent', 'memory_timeout'],
  finds_more_than_asked: ['agent', 'memory_too_many'],
  clears_in_the_log: ['dispose', 'memory_not_cleared'],
};
const faulty = Object.keys(expected);
/** The first sample has nobody before it whose facts could be seen. */
const failedOf = (name: string) => (name.endsWith('anothers') ? SAMPLES - 1 : SAMPLES);

const registry: Registry = { ...builtinRegistry, memories: { ...builtinRegistry.memories, ...faultyMemories } };

describe('memories that break their contract, in a run over the bundled scenarios', () => {
  let project: Project;
  let executed: ExecutedRun;
  const results = (...path: string[]) => project.path('results', ...path);
  const metricsOf = async (name: string): Promise<CiMetrics> => {
    const { arms } = ciRollupSchema.parse(JSON.parse(await readFile(results('_rollup/ci/metrics.json'), 'utf8')));
    const found = arms.find(({ identity }) => identity.experiment === name);
    if (!found) throw new Error(`no metrics of ${name}`);
    return found;
  };

  beforeAll(async () => {
    project = await makeProject();
    const arm = (name: string) => ({ name, agent: { kind: 'dump' }, memory: { backend: name } });
    const file = await project.write('run.yaml', {
      name: 'faulty',
      benchmark: {
        benchmark: 'contextual_integrity',
        dataset: { bundled: 'heams_scenarios', limit: SAMPLES },
        user_task_prompt: '{{ user_task }}',
        evaluator: { type: 'ci_string_match', variant: 'raw' },
      },
      // One after the other, so that it is told which samples come after another one.
      concurrency: 1,
      memory_ready_timeout_s: 0.05,
      memory_timeout_s: 0.05,
      experiments: ['sound', ...faulty].map(arm),
    });
    executed = await executeRun({
      run: await loadRun(file, registry),
      host: testHost(project.dir),
      outputDir: results(),
      registry,
      stop: new AbortController().signal,
      signal: new AbortController().signal,
    });
    const what = { resultsDir: results(), reporters: await loadReporters() };
    await writeExperimentReports(what);
    await writeRollups(what);
  }, 120_000);
  afterAll(() => project.remove());

  it('runs to its end, with every failure counted', () => {
    expect(executed.stopped).toBeUndefined();
    const failed = Object.fromEntries(executed.statuses.map((status) => [status.experiment, status.failed]));
    expect(failed).toEqual({ sound: 0, ...Object.fromEntries(faulty.map((name) => [name, failedOf(name)])) });
  });

  it.each(faulty)('records no grade and no message as if nothing had happened: %s', async (name) => {
    const [stage, code] = expected[name] as [string, string];
    const failed = (await readJsonLines(results(name, 'runs.jsonl'))).filter(({ status }) => status === 'failed');
    expect(failed.length).toBe(failedOf(name));
    for (const record of failed) {
      expect(record.error).toMatchObject({ stage, code });
      expect(record).not.toHaveProperty('grade');
    }
  });

  it.each(faulty)(
    'judges nothing of what failed, and bounds the rates as wide as that leaves them: %s',
    async (name) => {
      const [stage, code] = expected[name] as [string, string];
      const { counts, failures, leakage, coverage } = await metricsOf(name);
      expect(counts).toMatchObject({ records: SAMPLES, failed: failedOf(name), done: SAMPLES - failedOf(name) });
      expect(failures).toMatchObject([{ stage, code, count: failedOf(name) }]);
      for (const rate of [leakage.per_scenario, coverage.per_scenario]) {
        expect(rate).toMatchObject({ denominator: SAMPLES - failedOf(name), failed: failedOf(name) });
        // Not one of them is taken for private: in the best case none leaked, in the worst all did.
        if (rate.defined) expect(rate.bounds.high - rate.bounds.low).toBeCloseTo(failedOf(name) / SAMPLES, 10);
        expect(rate.defined).toBe(failedOf(name) < SAMPLES);
      }
    },
  );

  it('judges every sample of the memory that keeps its contract', async () => {
    const { counts, failures, leakage } = await metricsOf('sound');
    expect(counts).toMatchObject({ records: SAMPLES, done: SAMPLES, failed: 0 });
    expect(failures).toEqual([]);
    expect(leakage.per_scenario).toMatchObject({ defined: true, denominator: SAMPLES });
    expect(leakage.overall.numerator).toBeGreaterThan(0);
  });

  it.each(faulty)('names stage, code and count in report.md and report.html: %s', async (name) => {
    const [stage, code] = expected[name] as [string, string];
    const markdown = (await readFile(results(name, 'report.md'), 'utf8')).replaceAll('\\', '');
    const row = markdown.split('\n').find((line) => line.includes(code) && line.startsWith('|'));
    expect(row?.split('|').map((cell) => cell.trim().replaceAll('`', ''))).toEqual(
      expect.arrayContaining([stage, code, String(failedOf(name))]),
    );
    const html = await readFile(results(name, 'report.html'), 'utf8');
    expect(html).toContain(code);
    expect(html).toMatch(new RegExp(`>${failedOf(name)}<`));
  });

  it('shows the failed in the rollup, where one looks first', async () => {
    const markdown = (await readFile(results('_rollup/ci/report.md'), 'utf8')).replaceAll('\\', '');
    for (const name of faulty) expect(markdown).toContain(name);
    expect(markdown).toMatch(/failed/i);
  });

  it.each(faulty)('does not pass a gate: %s', async (name) => {
    const limits = ['--max', 'leakage.per_scenario=1', '--experiments', name];
    const { code, stdout } = await runCli(['check', 'results', ...limits], project.dir);
    expect(stdout).toMatch(/fail/i);
    expect(code).toBe(4);
  });

  it('passes it with a memory that keeps its contract', async () => {
    const limits = ['--max', 'leakage.per_scenario=1', '--experiments', 'sound'];
    expect((await runCli(['check', 'results', ...limits], project.dir)).code).toBe(0);
  });
});
