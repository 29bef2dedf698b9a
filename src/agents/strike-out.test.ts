import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strikeOut } from './strike-out.ts';

describe('strikeOut', () => {
  it.each([
    ['My code is P123, yes p123.', ['P123'], 'My code is █████, yes █████.'],
    ['type-2 diabetes and Diabetes', ['diabetes', 'type-2 diabetes'], '█████ and █████'],
    ['nothing here', ['secret'], 'nothing here'],
    ['', ['secret'], ''],
    ['text', [''], 'text'],
    // İ lower-cases to two characters; the positions after it still agree.
    ['İstanbul, İzmir: SECRET!', ['secret'], 'İstanbul, İzmir: █████!'],
    ['İzmir', ['i'], '█████zm█████r'],
    // Final sigma: ΟΔΟΣ is οδος at the end of a word, and not before a letter.
    ['ΟΔΟΣ 5', ['οδος'], '█████ 5'],
    ['ΟΔΟΣΑ', ['οδος'], 'ΟΔΟΣΑ'],
    // Striking one out makes another: the sigma that was inside a word now ends it.
    ['ΑΣx', ['x', 'ας'], '██████████'],
    ['naïve 😀 family', ['😀'], 'naïve █████ family'],
    ['aaaa', ['aaa'], '█████a'],
    ['a █ b', ['█'], 'a  b'],
  ])('of %j without %j', (text, secrets, expected) => {
    expect(strikeOut(text, secrets)).toBe(expected);
  });

  const awkward = fc.string({
    unit: fc.constantFrom(...'aAbBzİiıΣσςß█ \n😀éÉǅ'.normalize('NFC'), '\u0307', '\ud83d', 'K', 'Ω'),
    maxLength: 24,
  });
  const anything = fc.oneof(awkward, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));

  it('leaves no secret in the text, whatever the case', () => {
    fc.assert(
      fc.property(anything, fc.array(fc.oneof(awkward, anything), { maxLength: 5 }), (text, secrets) => {
        const result = strikeOut(text, secrets).toLowerCase();
        for (const secret of secrets) {
          if (secret !== '') expect(result.includes(secret.toLowerCase())).toBe(false);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps what lies around a secret that stands alone', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('İ', 'x', ' ', '😀') }), (around) => {
        expect(strikeOut(`${around}SECRET${around}`, ['secret'])).toBe(`${around}█████${around}`);
      }),
    );
  });
});
