import { describe, expect, it } from 'vitest';
import { envVariable, fillReferences, referencesIn, withoutReferences } from './env-references.ts';

const reference = (name: string) => ['$', '{', name, '}'].join('');
const [A, B] = [reference('A'), reference('B_2')];

describe('envVariable', () => {
  it.each([
    [{ A: ' v\n' }, 'v'],
    [{ A: '' }, undefined],
    [{ A: ' \n' }, undefined],
    [{}, undefined],
    [{ A: undefined }, undefined],
  ])('of %j is %j', (env, value) => {
    expect(envVariable(env, 'A')).toBe(value);
  });

  it('takes no property of every object for a variable', () => {
    for (const name of ['constructor', 'toString', '__proto__']) expect(envVariable({}, name)).toBeUndefined();
  });
});

describe('references in a text', () => {
  it.each([
    [`${A}:${B}@host ${A}`, ['A', 'B_2']],
    ['$A $(A) {A} ${', []],
    [reference('not a name'), []],
    [reference('2A'), []],
    [reference('A:-x'), []],
    [reference(''), []],
    ['', []],
  ])('%j: %j', (text, names) => {
    expect(referencesIn(text)).toEqual(names);
  });

  it('are filled in one pass, literally, and by nothing where a variable is not set', () => {
    expect(fillReferences(`${A}/${B}/${reference('C')}.`, { A: `$& ${B} $1`, B_2: 'b' })).toBe(`$& ${B} $1/b/.`);
    expect(fillReferences('no reference', { A: 'x' })).toBe('no reference');
  });

  it('are taken out, and nothing else', () => {
    expect(withoutReferences(`Bearer ${A}${B}!`)).toBe('Bearer !');
  });
});
