import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Span } from '../schema/view.ts';
import { maskJson, maskOf } from './mask.ts';

const secrets = [
  { text: 'diabetes', code: '[secret 1]' },
  { text: 'type-2 diabetes', code: '[secret 2]' },
  { text: ' ', code: '[secret 3]' },
];

describe('maskOf', () => {
  it('strikes out every secret, whatever its case, the longest first', () => {
    const mask = maskOf(secrets);
    expect(mask.text('His TYPE-2 Diabetes; her diabetes.')).toBe('His [secret 2]; her [secret 1].');
  });

  it('reads a secret as text and never as a pattern', () => {
    expect(maskOf([{ text: 'a.c (x)', code: '#' }]).text('abc (x) a.c (x)')).toBe('abc (x) #');
  });

  it('leaves all as it is where there is no secret, and where all are blank', () => {
    expect(maskOf([]).text('a b')).toBe('a b');
    expect(maskOf([{ text: '', code: '#' }]).text('a b')).toBe('a b');
  });

  it('moves spans along: before, on, after and across what was struck out', () => {
    const text = 'ab SECRET cd';
    const span = (start: number, end: number): Span => ({ start, end, side: 'secret', key: 'k', by: 'judge' });
    const masked = maskOf([{ text: 'secret', code: '#' }]).marked(text, [
      span(0, 2),
      span(3, 9),
      span(10, 12),
      span(5, 11),
    ]);
    expect(masked.text).toBe('ab # cd');
    expect(masked.spans.map(({ start, end }) => masked.text.slice(start, end))).toEqual(['ab', '#', 'cd', '# c']);
  });

  it('leaves no secret standing, in whatever case and text', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'É', 'é', '.', ' ', '7'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 8 }), (hidden, pieces) => {
        const text = pieces.join('');
        const masked = maskOf(hidden.map((own, i) => ({ text: own, code: `<${'#'.repeat(i + 1)}>` }))).text(text);
        for (const own of hidden) {
          if (own.trim() !== '') expect(masked.toLowerCase()).not.toContain(own.toLowerCase());
        }
      }),
    );
  });
});

it('masks every text of a value and no key', () => {
  const value = { diabetes: ['diabetes', { x: 'no diabetes', y: 3, z: null }] };
  expect(maskJson(value, maskOf(secrets))).toEqual({ diabetes: ['[secret 1]', { x: 'no [secret 1]', y: 3, z: null }] });
});
