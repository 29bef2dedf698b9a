import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RowQuery, rowFlags, rowQuerySchema, rowSorts, type ViewRow } from '../schema/view.ts';
import { hasFlag, queryRows } from './query-rows.ts';
import { queryFromParams, queryToParams } from './row-query-text.ts';

const row = (number: number, own: Partial<ViewRow> = {}): ViewRow => ({
  row: number,
  experiment: 'a',
  sample_id: String(number),
  repeat: 0,
  status: 'done',
  tags: {},
  secrets: 3,
  leaked: 0,
  recalled: 0,
  fields: 2,
  communicated: 0,
  flagged: 0,
  disputed: 0,
  unjudged: 0,
  helpfulness: 2,
  cost_usd: 0,
  total_ms: 1,
  excerpt: '',
  ...own,
});
const ask = (query: Partial<RowQuery>): RowQuery => rowQuerySchema.parse(query);
const numbers = (rows: readonly ViewRow[]) => rows.map((one) => one.row);

const rows = [
  row(0, { experiment: 'a', leaked: 2, tags: { domain: 'Health' }, sample_id: '10' }),
  row(1, { experiment: 'b', leaked: 0, tags: { domain: 'Work' }, sample_id: '9', communicated: 1 }),
  row(2, { experiment: 'b', status: 'failed', failure: { stage: 'agent', code: 'x' }, sample_id: '9' }),
  row(3, { experiment: 'a', leaked: 1, tags: { domain: 'Work' }, sample_id: '2', communicated: 2 }),
];

describe('queryRows', () => {
  it('keeps what every filter keeps', () => {
    expect(numbers(queryRows(rows, ask({})))).toEqual([0, 1, 2, 3]);
    expect(numbers(queryRows(rows, ask({ experiments: ['b'] })))).toEqual([1, 2]);
    expect(numbers(queryRows(rows, ask({ tags: { domain: ['Work'] } })))).toEqual([1, 3]);
    expect(numbers(queryRows(rows, ask({ flags: { leaked: true } })))).toEqual([0, 3]);
    expect(numbers(queryRows(rows, ask({ flags: { leaked: false, failed: false } })))).toEqual([1]);
    expect(numbers(queryRows(rows, ask({ sample: '9', flags: { failed: true } })))).toEqual([2]);
  });

  it('keeps the rows whose message was found', () => {
    expect(numbers(queryRows(rows, ask({ flags: { leaked: true } }), new Set([1, 3])))).toEqual([3]);
  });

  it('sorts by value, numbers in ids as numbers, and puts what has no value last whichever way', () => {
    expect(numbers(queryRows(rows, ask({ sort: 'leaked', descending: true })))).toEqual([0, 3, 1, 2]);
    expect(numbers(queryRows(rows, ask({ sort: 'leaked' })))).toEqual([1, 3, 0, 2]);
    expect(numbers(queryRows(rows, ask({ sort: 'communicated', descending: true })))).toEqual([3, 1, 0, 2]);
    expect(numbers(queryRows(rows, ask({ sort: 'sample' })))).toEqual([3, 1, 2, 0]);
    expect(numbers(queryRows(rows, ask({ descending: true })))).toEqual([3, 2, 1, 0]);
  });

  it('leaves the rows as they are', () => {
    const before = [...rows];
    queryRows(rows, ask({ descending: true }));
    expect(rows).toEqual(before);
  });

  it('neither makes up nor doubles a row, and each flag cuts the rows in two', () => {
    const anyRows = fc.array(fc.record({ leaked: fc.nat(3), unjudged: fc.nat(1), total_ms: fc.nat(9) }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        anyRows,
        fc.constantFrom(...rowFlags),
        fc.constantFrom(...rowSorts),
        fc.boolean(),
        (own, flag, sort, descending) => {
          const all = own.map((one, i) => row(i, one));
          const [yes, no] = [true, false].map((wanted) =>
            queryRows(all, ask({ flags: { [flag]: wanted }, sort, descending })),
          );
          expect([...numbers(yes as ViewRow[]), ...numbers(no as ViewRow[])].sort((a, b) => a - b)).toEqual(
            numbers(all),
          );
          expect(yes?.every((one) => hasFlag(one, flag))).toBe(true);
        },
      ),
    );
  });
});

describe('a query in a URL', () => {
  it('reads as it says', () => {
    const query = ask({
      experiments: ['a', 'b'],
      tags: { domain: ['Health & care'] },
      flags: { leaked: true },
      sort: 'time',
      descending: true,
    });
    expect(queryToParams(query).toString()).toBe('arm=a&arm=b&tag.domain=Health+%26+care&leaked=yes&sort=time.desc');
    expect(queryToParams(ask({})).toString()).toBe('');
  });

  it('comes back whole, whatever is in it', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const query = fc.record({
      experiments: fc.array(text, { maxLength: 3 }),
      tags: fc.dictionary(
        text.filter((name) => name !== '__proto__'),
        fc.array(text, { minLength: 1, maxLength: 2 }),
        { noNullPrototype: true, maxKeys: 2 },
      ),
      flags: fc.dictionary(fc.constantFrom(...rowFlags), fc.boolean(), { noNullPrototype: true }),
      text,
      sort: fc.constantFrom(...rowSorts),
      descending: fc.boolean(),
    });
    fc.assert(
      fc.property(query, (given) => {
        const parsed = rowQuerySchema.parse(given);
        expect(queryFromParams(new URLSearchParams(queryToParams(parsed).toString()))).toEqual(parsed);
      }),
    );
  });

  it('takes a tag that is called as something that every object has', () => {
    const query = ask({ tags: { valueOf: ['a'], constructor: ['b', 'c'] } });
    expect(queryFromParams(queryToParams(query))).toEqual(query);
  });

  it('passes over what makes no sense', () => {
    expect(queryFromParams(new URLSearchParams('leaked=perhaps&sort=colour.up&page=3'))).toEqual(ask({}));
  });
});
