import { describe, expect, it } from 'vitest';
import type { Json } from '../schema/json.ts';
import { leafText, leaves } from './leaves.ts';

describe('leaves', () => {
  it.each<[Json, string[]]>([
    ['plain text', ['plain text']],
    ['', ['']],
    [12.5, ['12.5']],
    [true, ['true']],
    [null, ['null']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [{ name: 'Zoë', age: 40 }, ['Zoë', '40']],
    [{ b: { c: ['x', { d: 'y' }] }, a: 'z' }, ['x', 'y', 'z']],
    [[], []],
    [{ a: {} }, []],
  ])('of %j are %j', (value, expected) => {
    expect(leaves(value)).toEqual(expected);
    expect(leafText(value)).toBe(expected.join('\n'));
  });
});
