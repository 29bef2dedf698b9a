import { describe, expect, it } from 'vitest';
import { booleanAt, parseAnswers } from '../src/benchmarks/contextual-integrity/parse-reply.ts';
import { checkRow } from '../src/benchmarks/contextual-integrity/rows.ts';
import { builtinRegistry, pick } from '../src/config/registry.ts';
import { readYamlFile } from '../src/config/yaml-file.ts';
import { ciRow } from './support/dataset-rows.ts';
import { makeProject } from './support/project.ts';

const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

describe('what fuzzing has found', () => {
  it.each([201, 20_000, 200_000])(
    'a config with %i brackets inside each other is refused, and ends no process',
    async (depth) => {
      const project = await makeProject({ 'deep.yaml': `a: ${nested(depth)}\n` });
      try {
        await expect(readYamlFile(project.path('deep.yaml'))).rejects.toMatchObject({
          code: 'config_bad_yaml',
          message: 'this config file is nested too deeply',
        });
      } finally {
        await project.remove();
      }
    },
  );

  it('brackets in a text are not nesting', async () => {
    const text = '[{'.repeat(500);
    const project = await makeProject({ 'text.yaml': `a: |\n  ${text}\nb: "${text}"\n` });
    try {
      expect((await readYamlFile(project.path('text.yaml'))).data).toEqual({ a: `${text}\n`, b: text });
    } finally {
      await project.remove();
    }
  });

  it('a seed nested 20,000 deep makes a bad row', () => {
    const row = { ...ciRow(), seed: { ...ciRow().seed, more: JSON.parse(nested(20_000)) } };
    expect(checkRow(row, 0, { file: 'rows.jsonl' })).toMatchObject({
      status: 'bad',
      errors: [{ code: 'dataset_bad_row' }],
    });
  });

  it.each(['information', 'allowed', 'disallowed'])('a key __proto__ in %s is refused, not dropped', (part) => {
    const { seed, dataset_item: item } = ciRow();
    const odd = (own: object) => JSON.parse(JSON.stringify(own).replace('{', '{"__proto__":"Ada Moreau",'));
    const dataset_item =
      part === 'information'
        ? { ...item, information: odd(item.information) }
        : { ...item, annotation: { ...item.annotation, [part]: odd(item.annotation[part as 'allowed']) } };
    const checked = checkRow({ seed, dataset_item }, 0, { file: 'rows.jsonl' });
    expect(checked).toMatchObject({ status: 'bad', errors: [{ code: 'dataset_bad_row', found: '__proto__' }] });
  });

  it('a mapping in place of the name of a plug-in is an unknown plug-in', async () => {
    for (const name of [{ toString: 1, valueOf: 1 }, [], null, 7]) {
      const picked = pick('backend', builtinRegistry.memories, name, { file: 'memory.yaml' });
      await expect(picked).rejects.toMatchObject({ code: 'unknown_backend' });
    }
  });

  it('a verdict whose number is an object or a list has no number', () => {
    for (const number of ['{"toString":1,"valueOf":1}', '[1]', 'null', 'true']) {
      const reply = `{"verdicts":[{"number":${number},"leaked":false}]}`;
      expect(parseAnswers(reply, booleanAt('leaked'), [1]).get(1)).toMatchObject({ ok: false });
    }
  });
});
