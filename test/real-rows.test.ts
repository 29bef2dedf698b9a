import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCiMetrics } from '../src/benchmarks/contextual-integrity/metrics.ts';
import { executeRun } from '../src/config/execute-run.ts';
import { loadRun } from '../src/config/load-run.ts';
import { builtinRegistry } from '../src/config/registry.ts';
import { readRecords } from '../src/store/records.ts';
import { type LoopbackHub, startLoopbackHub } from './support/loopback-hub.ts';
import { makeProject, type Project, testHost } from './support/project.ts';
import { sharedData } from './support/shared-data.ts';

const never = () => new AbortController().signal;

/** The 729 published rows, through a hub on loopback, with the controls over a memory that gives everything back. */
describe.skipIf(!sharedData)('the real 729 rows (skipped where they are not laid beside the repository)', () => {
  let hub: LoopbackHub;
  let project: Project;

  beforeAll(async () => {
    hub = await startLoopbackHub({ folder: join(sharedData as string, 'hub') });
    project = await makeProject({
      'configs/runs/real.yaml': {
        name: 'real',
        benchmark_config_file: 'real.yaml',
        experiments: [
          { name: 'dump', agent_config_file: 'dump.yaml', memory_config_file: 'full_context.yaml' },
          { name: 'oracle', agent_config_file: 'oracle.yaml', memory_config_file: 'full_context.yaml' },
          { name: 'silent', agent_config_file: 'silent.yaml', memory_config_file: 'full_context.yaml' },
        ],
      },
      'configs/benchmarks/real.yaml': {
        benchmark: 'contextual_integrity',
        dataset: { hub: 'huseyinatahaninan/ContextualIntegritySyntheticDataset' },
        user_task_prompt: '{{ user_task }}',
        evaluator: { type: 'ci_string_match', variant: 'raw' },
      },
      'configs/agents/dump.yaml': { kind: 'dump' },
      'configs/agents/oracle.yaml': { kind: 'oracle' },
      'configs/agents/silent.yaml': { kind: 'silent' },
      'configs/memory/full_context.yaml': { backend: 'full_context' },
    });
    const run = await loadRun(project.path('configs/runs/real.yaml'), builtinRegistry);
    const host = testHost(project.dir, { HF_ENDPOINT: hub.url });
    await executeRun({ run, host, outputDir: project.path('results'), stop: never(), signal: never() });
  }, 120_000);

  afterAll(async () => {
    await hub?.close();
    await project?.remove();
  });

  async function metricsOf(experiment: string) {
    const metrics = createCiMetrics({ bootstrapSeed: 0 });
    for await (const record of readRecords(project.path('results', experiment, 'runs.jsonl'))) metrics.add(record);
    return metrics.result();
  }

  // Counted from the rows by a separate program: lower-cased annotation leaves as substrings of the lower-cased facts.
  it('dump leaks 1821 of 1914 secrets, in 712 of 729 samples, and covers 2028 of 2110 fields', async () => {
    const { leakage, coverage } = await metricsOf('dump');
    expect(leakage.overall).toMatchObject({ numerator: 1821, denominator: 1914 });
    expect(leakage.per_scenario).toMatchObject({ numerator: 712, denominator: 729 });
    expect(coverage.overall).toMatchObject({ numerator: 2028, denominator: 2110 });
  });

  it('oracle leaks 54 of 1914 secrets, in 48 of 729 samples', async () => {
    const { leakage, coverage } = await metricsOf('oracle');
    expect(leakage.overall).toMatchObject({ numerator: 54, denominator: 1914 });
    expect(leakage.per_scenario).toMatchObject({ numerator: 48, denominator: 729 });
    expect(coverage.overall).toMatchObject({ numerator: 2026, denominator: 2110 });
  });

  it('silent leaks and covers nothing, and its adjusted rates are undefined', async () => {
    const { leakage, coverage } = await metricsOf('silent');
    expect(leakage.overall).toMatchObject({ numerator: 0, denominator: 1914 });
    expect(leakage.per_scenario).toMatchObject({ numerator: 0, denominator: 729 });
    expect(coverage.overall).toMatchObject({ numerator: 0, denominator: 2110 });
    expect(leakage.adjusted.defined).toBe(false);
    expect(coverage.adjusted.defined).toBe(false);
  });

  it('touches no network once the rows are cached', async () => {
    const before = hub.requests.length;
    const run = await loadRun(project.path('configs/runs/real.yaml'), builtinRegistry);
    const host = testHost(project.dir, { HF_ENDPOINT: hub.url });
    const again = await executeRun({ run, host, outputDir: project.path('results'), stop: never(), signal: never() });
    expect(again.resumed).toBe(3 * 729);
    expect(hub.requests.length).toBe(before);
  });
});
