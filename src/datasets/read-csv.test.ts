import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCsv } from '../report/csv.ts';
import { readCsv } from './read-csv.ts';

const texts = (csv: string) => readCsv(csv, 'x.csv').map((row) => row.map(({ text }) => text));

describe('readCsv', () => {
  it('reads quotes, doubled quotes, line ends and empty cells', () => {
    expect(texts('\ufeffa,b\r\n"x, ""y""\nz",\n,\n\n,last')).toEqual([
      ['a', 'b'],
      ['x, "y"\nz', ''],
      ['', ''],
      ['', 'last'],
    ]);
    expect(texts('a,b')).toEqual([['a', 'b']]);
    expect(texts('a,')).toEqual([['a', '']]);
    expect(texts('')).toEqual([]);
  });

  it('knows where every cell begins', () => {
    const rows = readCsv('a,bb\n"x\ny",z\nlast,1', 'x.csv');
    expect(rows[1]).toMatchObject([
      { line: 2, column: 1 },
      { line: 3, column: 4 },
    ]);
    expect(rows[2]?.[1]).toEqual({ text: '1', line: 4, column: 6 });
  });

  it.each([
    ['a\n"x', 2, 1],
    ['a,"x"y', 1, 6],
  ])('says where %j is broken', (csv, line, column) => {
    expect(() => readCsv(csv, 'x.csv')).toThrow(
      expect.objectContaining({ code: 'csv_broken', where: { file: 'x.csv', line, column } }),
    );
  });

  it('reads back what is written', () => {
    // Letters, quotes, commas and line feeds; the writer guards against formulas and unseen characters, which are not in here.
    const cell = fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é'), minLength: 1 })
      .map((text) => `x${text}`);
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
        expect(texts(toCsv(['p', 'q'], rows))).toEqual([['p', 'q'], ...rows]);
      }),
    );
  });
});
