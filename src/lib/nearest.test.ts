import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from './nearest.ts';

describe('editDistance', () => {
  it.each([
    ['kitten', 'sitting', 3],
    ['saturday', 'sunday', 3],
    ['flaw', 'lawn', 2],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['', '', 0],
    ['same', 'same', 0],
    ['ab', 'ba', 2],
    ['benchmark', 'benchmrak', 2],
  ])('from %j to %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  it('is a metric', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(editDistance(a, c)).toBeLessThanOrEqual(distance + editDistance(b, c));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});

describe('nearest', () => {
  const names = ['model_id', 'memory_strategy', 'instructions', 'temperature', 'top_k'];

  it.each([
    ['model', undefined],
    ['modelid', 'model_id'],
    ['MODEL_ID', 'model_id'],
    ['temprature', 'temperature'],
    ['memory_stratgey', 'memory_strategy'],
    ['instruction', 'instructions'],
    ['topk', 'top_k'],
    ['wholly_other', undefined],
    ['', undefined],
  ])('takes %j for %j', (word, expected) => {
    expect(nearest(word, names)).toBe(expected);
  });

  it('takes the closest, and the first of equals', () => {
    expect(nearest('bat', ['bath', 'bit', 'bat_'])).toBe('bath');
    expect(nearest('abcdef', ['abcdxx', 'abcdex'])).toBe('abcdex');
    expect(nearest('x', [])).toBeUndefined();
  });
});
