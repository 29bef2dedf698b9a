import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoted } from './quote.ts';

const anyLineEnd = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;

describe('quoted', () => {
  it('puts the mark before every line', () => {
    expect(quoted('Dear Ann,\n\nSee you.\n')).toBe('> Dear Ann,\n> \n> See you.\n> ');
  });

  it.each([
    ['\r\n', '> a\n> b'],
    ['\r', '> a\n> b'],
    ['\v', '> a\n> b'],
    ['\f', '> a\n> b'],
    ['\u0085', '> a\n> b'],
    ['\u2028', '> a\n> b'],
    ['\u2029', '> a\n> b'],
    ['\n\r', '> a\n> \n> b'],
  ])('takes %j for the end of a line', (end, expected) => {
    expect(quoted(`a${end}b`)).toBe(expected);
  });

  it('spells out what is not seen', () => {
    expect(quoted('a\u202Eb\u0000c\u{E0041}d\u200Be\uD800f\u{E0101}')).toBe(
      '> a<U+202E>b<U+0000>c<U+E0041>d<U+200B>e<U+D800>f<U+E0101>',
    );
  });

  it('leaves tabs, joiners and emoji alone', () => {
    const text = 'a\tb می\u200Cخواهم 👩\u200D👧 ❤\uFE0F 日本';
    expect(quoted(text)).toBe(`> ${text}`);
  });

  it.each(['', '  ', '\n\t\n'])('says that %j is empty, outside the quotation', (message) => {
    expect(quoted(message)).toBe('(The message is empty.)');
  });

  it('lets no message close its quotation', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029', '> ', '"', '{', 'a') }),
    );
    fc.assert(
      fc.property(text, (message) => {
        fc.pre(message.trim() !== '');
        expect(
          quoted(message)
            .split(anyLineEnd)
            .every((line) => line.startsWith('> ')),
        ).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
