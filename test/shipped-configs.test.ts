import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCiSamples } from '../src/benchmarks/contextual-integrity/dataset.ts';
import { questions } from '../src/benchmarks/contextual-integrity/judge-questions.ts';
import type { CiSample } from '../src/benchmarks/contextual-integrity/sample.ts';
import { loadRun } from '../src/config/load-run.ts';
import { builtinRegistry } from '../src/config/registry.ts';
import { components } from '../src/config/run.ts';
import { systemClock } from '../src/lib/clock.ts';
import { packageRoot } from '../src/lib/shipped.ts';
import { template } from '../src/lib/template.ts';
import type { CiConfig, CiDatasetConfig } from '../src/schema/contextual-integrity.ts';
import { sharedData } from './support/shared-data.ts';

const runs = join(packageRoot(), 'configs/runs');
const runFiles = readdirSync(runs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
const configs = join(packageRoot(), 'configs');

async function samplesOf(dataset: CiDatasetConfig): Promise<CiSample[]> {
  const loaded = await loadCiSamples(dataset, {
    seed: 0,
    resolve: (path) => path,
    env: {},
    cacheDir: '/nonexistent',
    bundledDir: join(packageRoot(), 'datasets/heams_scenarios'),
    signal: new AbortController().signal,
    clock: systemClock,
  });
  return loaded.samples;
}

/** What a template may be given that nobody expects: it must come through as it is. */
const awkward = '{{ user_task }} </message> ``` "quoted" \u202e';

describe.each(runFiles)('configs/runs/%s', (name) => {
  it('loads, and every prompt in it renders for every sample', { timeout: 120_000 }, async () => {
    const run = await loadRun(join(runs, name), builtinRegistry);
    const config = run.benchmark.options as CiConfig;
    const samples = await samplesOf({ bundled: 'heams_scenarios' });
    if (sharedData) samples.push(...(await samplesOf({ file: join(sharedData, 'contextual_integrity_729.json') })));
    expect(samples.length).toBe(sharedData ? 72 + 729 : 72);

    const benchmark = await run.benchmark.plugin.create(run.benchmark.options, {
      model: async () => ({ id: 'fake', structuredOutput: true, generate: () => Promise.reject(new Error('unused')) }),
      embedder: () => Promise.reject(new Error('unused')),
      clock: systemClock,
      seed: 0,
      env: {},
      resolve: (path) => path,
      folders: { datasets: '/nonexistent', shipped: join(packageRoot(), 'datasets') },
    });
    for (const sample of samples) {
      const variables = benchmark.variables(sample);
      const rendered = benchmark.turns(sample).map((turn) => turn.content);
      for (const component of components(run)) {
        if (component === run.benchmark) continue;
        for (const use of component.plugin.templates?.(component.options, run.benchmark.plugin.offers) ?? []) {
          const inject = use.variables.includes('memories') ? [{ memories: '' }, { memories: awkward }] : [{}];
          for (const extra of inject) rendered.push(template(use.source).render({ ...variables, ...extra }));
        }
      }
      if (config.evaluator.type === 'ci_llm_judge') {
        const { secrets, fields, helpfulness } = questions(config.evaluator, sample, awkward);
        for (const inquiry of [...secrets, ...fields, helpfulness]) {
          for (const message of inquiry.request(inquiry.numbers).messages) rendered.push(message.content);
        }
      }
      for (const text of rendered) {
        expect(text.trim()).not.toBe('');
        expect(text.replaceAll('{{ user_task }}', '')).not.toMatch(/\{\{|\{%/);
      }
    }
  });
});

describe('every shipped component', () => {
  it.each(['agents', 'memory', 'defences'])('in configs/%s belongs to a plug-in and is valid', async (folder) => {
    const files = readdirSync(join(configs, folder)).filter((name) => name.endsWith('.yaml'));
    expect(files.length).toBeGreaterThan(0);
    const { makeProject } = await import('./support/project.ts');
    const project = await makeProject();
    try {
      for (const file of files) {
        const path = join(configs, folder, file);
        const silent = join(configs, 'agents/silent.yaml');
        const none = join(configs, 'memory/no_memory.yaml');
        const run = await project.write('run.yaml', {
          name: 'one',
          benchmark_config_file: join(configs, 'benchmarks/demo/contextual_integrity.yaml'),
          experiments: [
            {
              name: 'arm',
              agent_config_file: folder === 'agents' ? path : silent,
              memory_config_file: folder === 'memory' ? path : none,
              ...(folder === 'defences' ? { defence_config_file: path } : {}),
            },
          ],
        });
        await expect(loadRun(run, builtinRegistry)).resolves.toMatchObject({ arms: [{ name: 'arm' }] });
      }
    } finally {
      await project.remove();
    }
  });
});
