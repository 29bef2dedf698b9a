import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonErrorPosition } from './json-position.ts';

describe('jsonErrorPosition', () => {
  it.each([
    ['', 0],
    ['nonsense', 0],
    ['{"a": 1', 7],
    ['{"a": 1,}', 8],
    ['[1, 2', 5],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['{a: 1}', 1],
    ['{"a": "cut', 6],
    ['{"a": 01}', 7],
    ['[1]]', 3],
    ['[1}', 2],
    ['1 2', 2],
    ["{'a': 1}", 1],
  ])('names the first place that is wrong in %j', (text, offset) => {
    expect(jsonErrorPosition(text)?.offset).toBe(offset);
  });

  it('counts lines and columns from 1', () => {
    expect(jsonErrorPosition('[\n  1,\n  oops\n]')).toEqual({ offset: 9, line: 3, column: 3 });
  });

  it('agrees with JSON.parse on texts that are almost JSON', () => {
    const almostJson = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', '"', '\\', ',', ':', '}', ']', '{', '[', '0', '-', 'e', ' ', '\u0001'),
      )
      .map(([text, at, cut, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + cut);
      });
    fc.assert(
      fc.property(almostJson, (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(jsonErrorPosition(text) === undefined).toBe(valid);
      }),
      { numRuns: 2000 },
    );
  });
});
