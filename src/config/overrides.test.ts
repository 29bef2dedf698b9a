import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { problemOf } from '../../test/support/marked.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import { loadRun } from './load-run.ts';
import { withOverrides } from './overrides.ts';
import type { Run } from './run.ts';

let project: Project;
let run: Run;
beforeAll(async () => {
  project = await makeProject({
    ...goodFiles,
    'configs/runs/smoke.yaml':
      'name: smoke\nbenchmark_config_file: quiz.yaml\nbudget: { max_calls: 9, max_cost_usd: 1 }\nmax_failures: 7\n' +
      'experiments:\n' +
      '  - { name: alpha, agent_config_file: writer.yaml, memory_config_file: keyword.yaml }\n' +
      '  - { name: beta, agent_config_file: writer.yaml, memory_config_file: keyword.yaml }\n',
  });
  run = await loadRun(project.path('configs/runs/smoke.yaml'), fakeRegistry);
});
afterAll(() => project.remove());

describe('withOverrides', () => {
  it('changes nothing where nothing is overridden', () => {
    expect(withOverrides(run, {})).toEqual(run);
  });

  it('changes what is named, and leaves the run it was given alone', () => {
    const before = structuredClone(run.settings);
    const changed = withOverrides(run, { limit: 3, concurrency: 2, maxCostUsd: 0.5, maxFailures: 1 });
    expect(changed.settings).toEqual({
      ...before,
      concurrency: 2,
      budget: { max_calls: 9, max_cost_usd: 0.5 },
      max_failures: 1,
    });
    expect(changed.benchmark.options).toMatchObject({ dataset: { hub: 'some/data', limit: 3 } });
    expect(run.settings).toEqual(before);
    expect(run.benchmark.options).not.toMatchObject({ dataset: { limit: 3 } });
  });

  it('keeps all arms: which of them run is no part of the configuration', () => {
    expect(withOverrides(run, { experiments: ['beta'] }).arms).toHaveLength(2);
  });

  it('refuses an experiment that there is not', async () => {
    expect(await problemOf(() => withOverrides(run, { experiments: ['alpha', 'betta'] }))).toMatchObject({
      code: 'unknown_experiment',
      where: { file: run.file },
      expected: 'one of: alpha, beta',
      found: 'betta',
      hint: 'did you mean "beta"?',
    });
  });

  it('refuses a list of no experiments, which would run nothing and call it done', async () => {
    expect(await problemOf(() => withOverrides(run, { experiments: [] }))).toMatchObject({
      code: 'unknown_experiment',
      expected: 'at least one of: alpha, beta',
    });
  });
});
