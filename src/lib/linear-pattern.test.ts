import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearPattern } from './linear-pattern.ts';

const found = (source: string, text: string) => linearPattern(source).test(text);

describe('linearPattern', () => {
  it.each([
    ['abc', 'xxABCxx', true],
    ['^abc$', 'one\nabc\ntwo', true],
    ['^abc$', 'xabc', false],
    ['a|bc', 'zbc', true],
    ['a(b|c)+d', 'abcbcd', true],
    ['a(?:b|c){2,3}d', 'abd', false],
    ['a(?:b|c){2,3}d', 'abcd', true],
    ['a{3}', 'aa', false],
    ['a{2,}b', 'xaaaab', true],
    ['\\bcat\\b', 'a cat!', true],
    ['\\bcat\\b', 'concatenate', false],
    ['\\Bcat', 'concat', true],
    ['[^0-9 ]', '12 34', false],
    ['[a-f\\d]{4}', 'zBEEf', true],
    ['[]x]', 'a]', true],
    ['[a-]', '-', true],
    ['\\d+\\.\\d+', 'v 12.5', true],
    ['é', 'É', true],
    ['a.c', 'a\nc', false],
    ['(a*)*b', 'aaab', true],
    ['(a|)+b', 'b', true],
    ['', 'anything', true],
    ['colou?r', 'COLOR', true],
    ['x$', 'x', true],
    ['😀+!', 'so 😀😀!', true],
  ])('%s in %j: %s', (source, text, expected) => {
    expect(found(source, text)).toBe(expected);
  });

  it.each([
    ['(', 'without its ")"'],
    [')', 'without its "("'],
    ['[a', 'without its "]"'],
    ['*a', 'nothing to repeat'],
    ['a**', 'a repetition of a repetition, at character 3'],
    ['a{2', 'starts no count'],
    ['a{5,2}', 'below its start'],
    ['a{201}', 'above 200'],
    ['(?=a)', 'look-around'],
    ['(?<n>a)', 'look-around'],
    ['(a)\\1', '"\\1" is not to be had'],
    ['\\p{L}', '"\\p" is not to be had'],
    ['[z-a]', 'does not rise'],
    ['a\\', 'at the end'],
    ['(a{100}){100}', 'more than 500 steps'],
    ['('.repeat(30) + ')'.repeat(30), 'deep'],
  ])('refuses %s', (source, problem) => {
    expect(() => linearPattern(source)).toThrow(problem);
  });

  it('finds what JavaScript finds', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\b', '\\d', '(a|b)', '(ab|b)', 'c?');
    const times = fc.constantFrom('', '*', '+', '?', '{2}', '{1,3}');
    const source = fc
      .array(fc.tuple(atom, times), { minLength: 1, maxLength: 4 })
      .map((parts) =>
        parts.map(([one, more]) => (one === '\\b' || one.endsWith('?') ? one : `${one}${more}`)).join(''),
      );
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '\n'), maxLength: 12 });
    fc.assert(
      fc.property(source, text, (pattern, given) => {
        expect(found(pattern, given)).toBe(new RegExp(pattern, 'im').test(given));
      }),
      { numRuns: 2000 },
    );
  });

  it('ends on a megabyte that would keep a backtracking search busy for ages', () => {
    expect(found('(a+)+$', `${'a'.repeat(1_000_000)}!`)).toBe(false);
    expect(found('(a|a)*b', 'a'.repeat(1_000_000))).toBe(false);
  });
});
