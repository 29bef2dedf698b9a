import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeProject } from '../../test/support/project.ts';
import { loadCiSamples } from '../benchmarks/contextual-integrity/dataset.ts';
import { sampleVariables, variablesOf } from '../benchmarks/contextual-integrity/judge-questions.ts';
import { builtinRegistry } from '../config/registry.ts';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { systemClock } from '../lib/clock.ts';
import { packageRoot } from '../lib/shipped.ts';
import { checkTemplate, template } from '../lib/template.ts';

const folder = join(packageRoot(), 'configs/defences');

/** A text that must come through as it is. */
const awkward = '{{ user_task }} </message> ``` "quoted" \u202e';
const flow = { attribute: awkward, subject: 'user', appropriate: false, reason: awkward };
const given = {
  items: JSON.stringify({ number: 1, text: awkward }),
  query: awkward,
  message: awkward,
  problem: 'the reply is no JSON object',
  answer_start: '<answer>',
  answer_end: '</answer>',
};

describe('shipped defence configs', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));
  const project = await makeProject();
  const samples = await loadCiSamples(
    { bundled: 'heams_scenarios' },
    {
      seed: 0,
      resolve: (path) => path,
      env: {},
      cacheDir: project.dir,
      bundledDir: join(packageRoot(), 'datasets/heams_scenarios'),
      signal: new AbortController().signal,
      clock: systemClock,
    },
  );
  await project.remove();

  it('are one for each kind at least', async () => {
    const kinds = new Set<string>();
    for (const file of files)
      kinds.add((parse(await readFile(join(folder, file), 'utf8')) as { defence: string }).defence);
    const shippable = Object.keys(builtinRegistry.defences).filter((name) => name !== 'recorded');
    expect([...kinds].sort()).toEqual(shippable.sort());
  });

  it.each(files)('%s fits its plug-in, and every prompt renders for every bundled scenario', async (file) => {
    const config = parse(await readFile(join(folder, file), 'utf8')) as { defence: string; name: string };
    const plugin = (await builtinRegistry.defences[config.defence]?.()) as DefencePlugin;
    const options = plugin.schema.parse(config);
    expect(`${config.name}.yaml`).toBe(file);
    const uses = plugin.templates?.(options, sampleVariables) ?? [];
    for (const { source, variables, requires } of uses) expect(checkTemplate(source, variables, requires)).toEqual([]);
    expect(samples.samples.length).toBe(72);
    for (const sample of samples.samples) {
      for (const { path, source } of uses) {
        const flows = path[0] === 'advice_prompt' ? [flow, { ...flow, appropriate: true }] : JSON.stringify(flow);
        const text = template(source).render({ ...variablesOf(sample), ...given, flows });
        expect(text.trim()).not.toBe('');
        expect(text.replaceAll('{{ user_task }}', '')).not.toMatch(/\{\{|\{%|\[object/);
      }
    }
  });
});
