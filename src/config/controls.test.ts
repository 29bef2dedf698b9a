import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { problemOf } from '../../test/support/marked.ts';
import { makeProject, type Project, testHost } from '../../test/support/project.ts';
import { ciReporter } from '../benchmarks/contextual-integrity/reporter.ts';
import { ciRollupSchema } from '../schema/ci-metrics.ts';
import { readRecords } from '../store/records.ts';
import { executeRun } from './execute-run.ts';
import { fingerprintOf, runIdentity } from './identity.ts';
import { loadRun } from './load-run.ts';
import { builtinRegistry } from './registry.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const runFile = 'configs/runs/r.yaml';
const arm = (name: string) => `  - { name: ${name}, agent: { kind: redacted }, memory: { backend: bm25 } }\n`;
const head = 'name: r\nbenchmark_config_file: b.yaml\n';

async function load(run: string) {
  const project = await makeProject({
    [runFile]: run,
    'configs/benchmarks/b.yaml': {
      benchmark: 'contextual_integrity',
      dataset: { bundled: 'heams_scenarios', limit: 12 },
      user_task_prompt: '{{ user_task }}',
      evaluator: { type: 'ci_string_match' },
    },
  });
  projects.push(project);
  return { project, run: await loadRun(project.path(runFile), builtinRegistry) };
}

describe('controls: true', () => {
  it('adds the controls after the arms of the file, each over its memory', async () => {
    const { run } = await load(`${head}controls: true\nexperiments:\n${arm('mine')}`);
    expect(run.arms.map(({ name, agent, memory }) => [name, agent.plugin.name, memory.plugin.name])).toEqual([
      ['mine', 'redacted', 'bm25'],
      ['control-silent', 'silent', 'no_memory'],
      ['control-dump', 'dump', 'full_context'],
      ['control-oracle', 'oracle', 'full_context'],
      ['control-redacted', 'redacted', 'full_context'],
    ]);
    expect(run.arms[2]?.memory).toBe(run.arms[3]?.memory);
  });

  it('goes with a matrix as well, and adds nothing unless asked', async () => {
    const matrix = 'matrix: { agents: [a.yaml], memories: [m.yaml] }\n';
    const project = await makeProject({
      'a.yaml': 'kind: dump\n',
      'm.yaml': 'backend: bm25\n',
      'r.yaml': `name: r\nbenchmark: { benchmark: contextual_integrity, dataset: { bundled: heams_scenarios }, user_task_prompt: "{{ user_task }}", evaluator: { type: ci_string_match } }\ncontrols: true\n${matrix}`,
    });
    projects.push(project);
    expect((await loadRun(project.path('r.yaml'), builtinRegistry)).arms).toHaveLength(5);
    expect((await load(`${head}experiments:\n${arm('mine')}`)).run.arms).toHaveLength(1);
  });

  it('refuses an arm that has the name of a control', async () => {
    const problem = await problemOf(() => load(`${head}controls: true\nexperiments:\n${arm('Control-Dump')}`));
    expect(problem).toMatchObject({
      code: 'config_duplicate_arm',
      where: { line: 3 },
      found: 'control-dump',
      hint: '"controls: true" adds an arm of this name: rename the other',
    });
  });

  it('runs, and the config written beside the results is the same run with its arms written out', async () => {
    const { project, run } = await load(`${head}controls: true\nexperiments:\n${arm('mine')}`);
    const never = () => new AbortController().signal;
    const outputDir = project.path('results');
    const host = testHost(project.dir);
    const { runId } = await executeRun({ run, host, outputDir, stop: never(), signal: never() });
    const again = await loadRun(join(outputDir, `run_config.${runId}.yaml`), builtinRegistry);
    expect(again.settings.controls).toBe(false);
    expect(again.arms.map(({ name }) => name)).toEqual(run.arms.map(({ name }) => name));
    expect(fingerprintOf(runIdentity(again, {}))).toBe(fingerprintOf(runIdentity(run, {})));
    const one = await loadRun(join(outputDir, 'control-dump', `experiment_config.${runId}.yaml`), builtinRegistry);
    expect(one.arms.map(({ name }) => name)).toEqual(['control-dump']);

    const arms = await Promise.all(
      run.arms.map(async ({ name }) => {
        const metrics = ciReporter.accumulate();
        for await (const record of readRecords(join(outputDir, name, 'runs.jsonl'))) metrics.add(record);
        return metrics.result();
      }),
    );
    expect(arms.map(({ identity }) => identity.agent_kind)).toEqual([
      'redacted',
      'silent',
      'dump',
      'oracle',
      'redacted',
    ]);
    const { scale } = ciRollupSchema.parse(ciReporter.rollup(arms, []).json);
    expect(scale.controls).toEqual({ silent: 'control-silent', oracle: 'control-oracle', dump: 'control-dump' });
    const placed = (name: string) => scale.arms.find(({ experiment }) => experiment === name);
    expect(placed('control-silent')).toMatchObject({ leakage: { value: 0 }, coverage: { value: 0 } });
    expect(placed('control-dump')).toMatchObject({ leakage: { value: 1 } });
    expect(placed('control-oracle')).toMatchObject({ coverage: { value: 1 } });
    expect(placed('control-redacted')).toMatchObject({ leakage: { value: 0 } });
  });
});
