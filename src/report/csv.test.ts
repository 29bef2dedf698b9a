import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCsv } from './csv.ts';

/** A plain RFC 4180 reader, to read back what was written. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    rows.at(-1)?.push(match[1]?.replace(/""/g, '"') ?? match[2] ?? '');
    if (match[3] === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('toCsv', () => {
  it('quotes what needs it', () => {
    expect(
      toCsv(
        ['a', 'b'],
        [
          ['x,y', 'say "hi"'],
          ['two\nlines', undefined],
        ],
      ),
    ).toBe('a,b\r\n"x,y","say ""hi"""\r\n"two\nlines",\r\n');
  });

  it('disarms formulas in text and leaves numbers alone', () => {
    const rows = [['=1+1', '+1', '-1', '@x', ' =1', -1, 0.5]];
    expect(toCsv([], rows)).toBe(`\r\n'=1+1,'+1,'-1,'@x,' =1,-1,0.5\r\n`);
  });

  it('refuses numbers that are none', () => {
    expect(() => toCsv(['a'], [[Number.NaN]])).toThrow(RangeError);
  });

  it('reads back as it was, for plain text', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é', '1'), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), (rows) => {
        const back = readCsv(toCsv(['x', 'y'], rows));
        const disarmed = rows.map((row) => row.map((value) => (value.startsWith('\n') ? `'${value}` : value)));
        expect(back).toEqual([['x', 'y'], ...disarmed]);
      }),
    );
  });
});
