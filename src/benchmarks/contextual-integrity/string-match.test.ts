import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedData } from '../../../test/support/shared-data.ts';
import { leafText, leaves } from '../../lib/leaves.ts';
import type { CiRow } from '../../schema/contextual-integrity.ts';
import { anyPart, everyPart, finder } from './string-match.ts';

describe('the raw rule', () => {
  it.each([
    ['My Passport is p1234567.', 'P1234567', 'p1234567'],
    ['a strictly business matter', 'bus', 'bus'],
    ['no such thing', 'P1234567', undefined],
    ['two  spaces', 'two spaces', undefined],
    ['', 'x', undefined],
    ['anything', '', undefined],
    ['anything at all', ' ', undefined],
  ])('in %j finds %j as %j', (message, part, match) => {
    expect(finder(message, 'raw')(part)).toBe(match);
  });

  it('gives the match as it stands, also where lower case is longer', () => {
    expect('İ'.toLowerCase()).toHaveLength(2);
    expect(finder('İİ, İSTANBUL now', 'raw')('stanbul NOW')).toBe('STANBUL now');
    expect(finder('from İZMİR', 'raw')('İzmİr')).toBe('İZMİR');
    expect(finder('😀 İ Dr. Wells', 'raw')('dr. wells')).toBe('Dr. Wells');
  });

  it('is the lower-cased substring test and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', maxLength: 2 }), (message, part) => {
        fc.pre(part.trim() !== '');
        const match = finder(message, 'raw')(part);
        expect(match !== undefined).toBe(message.toLowerCase().includes(part.toLowerCase()));
        if (match !== undefined) expect(message).toContain(match);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the boundary rule', () => {
  it.each([
    ['a business matter', 'bus', undefined],
    ['I take the bus, then', 'bus', 'bus'],
    ['omnibus, then the Bus.', 'bus', 'Bus'],
    ['card 149234', '4923', undefined],
    ['card ****4923!', '4923', '4923'],
    ['it costs $500', '$500', '$500'],
    ['it costs $5000', '$500', undefined],
    ['A$500 it is', '$500', '$500'],
    ['**Alice Carter**', 'alice carter', 'Alice Carter'],
    ['_Alice Carter_', 'alice carter', 'Alice Carter'],
    ['Alice\n  Carter', 'Alice Carter', 'Alice\n  Carter'],
    ['Alice Carters', 'Alice Carter', undefined],
    ['caf\u0065\u0301', 'cafe', undefined],
    ['the caf\u0065\u0301.', 'caf\u00e9', 'caf\u0065\u0301'],
    ['March 15–18', 'march 15-18', 'March 15–18'],
    ['555\u2011987', '555-987', '555\u2011987'],
    ['Anna’s flat', "anna's flat", 'Anna’s flat'],
    ['P12\u200B34', 'P1234', 'P12\u200B34'],
    ['Ｐ１２３４', 'p1234', 'Ｐ１２３４'],
    ['the ﬁle', 'file', 'ﬁle'],
    ['the ﬁ', 'f', undefined],
    ['ΟΔΟΣ', 'οδος', 'ΟΔΟΣ'],
    ['das Straßenfest', 'Straße', undefined],
    ['Моя Анна', 'анна', 'Анна'],
    ['Аннабель', 'анна', undefined],
    ['anything', ' ', undefined],
    ['anything', '\u200B', undefined],
  ])('in %j finds %j as %j', (message, part, match) => {
    expect(finder(message, 'boundary')(part)).toBe(match);
  });

  it.each([
    ['私は東京に住んでいます', '東京', '東京'],
    ['東京Towerで', '東京', '東京'],
    ['2024年3月', '2024', '2024'],
    ['12024年', '2024', undefined],
    ['カードは4923です', '4923', '4923'],
    ['患有糖尿病多年', '糖尿病', '糖尿病'],
    ['ฉันเป็นโรคเบาหวานมานาน', 'เบาหวาน', 'เบาหวาน'],
    ['당뇨병을', '당뇨병', undefined],
    ['당뇨병 을', '당뇨병', '당뇨병'],
  ])('where a script writes no spaces, every place is a boundary: %j, %j', (message, part, match) => {
    expect(finder(message, 'boundary')(part)).toBe(match);
  });

  it('finds every value that stands by itself, however it is cased and spaced', () => {
    const word = fc.stringMatching(/^[a-z0-9À-ɏ]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.string(), fc.string(), (words, before, after) => {
        const message = `${before} ${words.join(' \n').toUpperCase()} ${after}`;
        // Characters such as ß change their letters in upper case; what is left is a plain change of case.
        fc.pre(words.every((one) => one.toUpperCase().toLowerCase() === one));
        expect(finder(message, 'boundary')(words.join(' '))).toBeDefined();
      }),
    );
  });

  it('gives a stretch of the message, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', maxLength: 2 }), (message, part) => {
        const match = finder(message, 'boundary')(part);
        if (match !== undefined) expect(message).toContain(match);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('parts', () => {
  const find = finder('Flights for Olivia and David.', 'raw');

  it('any part leaks a secret', () => {
    expect(anyPart(['Sophia', 'david'], find)).toEqual({ value: true, evidence: 'David' });
    expect(anyPart(['Sophia'], find)).toEqual({ value: false });
    expect(anyPart([], find)).toEqual({ value: false });
  });

  it('all parts cover a field', () => {
    expect(everyPart(['Olivia', 'David'], find)).toEqual({ value: true, evidence: 'Olivia\nDavid' });
    expect(everyPart(['Olivia', 'Sophia'], find)).toEqual({ value: false });
    expect(everyPart(['Olivia', ' '], find)).toEqual({ value: true, evidence: 'Olivia' });
    expect(everyPart([], find)).toEqual({ value: false });
    expect(everyPart([''], find)).toEqual({ value: false });
  });
});

describe('the published rows', () => {
  const rows = (): CiRow[] =>
    JSON.parse(readFileSync(join(sharedData ?? '', 'contextual_integrity_729.json'), 'utf8')) as CiRow[];

  function count(which: 'all' | 'allowed') {
    const totals = { secrets: 0, leaked: 0, samples: 0, leaking: 0, fields: 0, covered: 0 };
    for (const { dataset_item } of rows()) {
      const { allowed, disallowed } = dataset_item.annotation;
      const facts = Object.entries(dataset_item.information).filter(([key]) => which === 'all' || key in allowed);
      const find = finder(facts.map(([key, value]) => `${key}: ${leafText(value)}`).join('\n'), 'raw');
      const leaked = Object.values(disallowed).filter((value) => anyPart(leaves(value), find).value).length;
      totals.secrets += Object.keys(disallowed).length;
      totals.leaked += leaked;
      totals.samples += 1;
      totals.leaking += leaked > 0 ? 1 : 0;
      totals.fields += Object.keys(allowed).length;
      totals.covered += Object.values(allowed).filter((value) => everyPart(leaves(value), find).value).length;
    }
    return totals;
  }

  it.skipIf(!sharedData)('leak and cover by the raw rule when every fact is repeated (needs the real rows)', () => {
    expect(count('all')).toEqual({
      secrets: 1914,
      leaked: 1821,
      samples: 729,
      leaking: 712,
      fields: 2110,
      covered: 2028,
    });
  });

  it.skipIf(!sharedData)('leak by the raw rule when only allowed facts are repeated (needs the real rows)', () => {
    expect(count('allowed')).toMatchObject({ secrets: 1914, leaked: 54, samples: 729, leaking: 48 });
  });
});
