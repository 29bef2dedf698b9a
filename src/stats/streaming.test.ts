import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactSum } from './exact-sum.ts';
import { IdTable } from './id-table.ts';
import { IntColumn } from './int-column.ts';
import { QuantileSketch } from './quantile-sketch.ts';
import { TopList } from './top-list.ts';

const sumOf = (values: readonly number[]) => {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum.value;
};

describe('ExactSum', () => {
  it('rounds once', () => {
    expect(sumOf([])).toBe(0);
    expect(sumOf(Array(10).fill(0.1))).toBe(1);
    expect(sumOf([1e16, 1, 1e-16, -1e16])).toBe(1);
    // Halfway between 1 and the next number, and a hair above: rounds up, not to even.
    expect(sumOf([1, 2 ** -53, 2 ** -106])).toBe(1 + 2 ** -52);
    expect(sumOf([1, 2 ** -53])).toBe(1);
  });

  it('does not depend on order', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 30 });
    fc.assert(
      fc.property(values, (numbers) => {
        const sorted = [...numbers].sort((a, b) => a - b);
        expect(sumOf(sorted)).toBe(sumOf(numbers));
        expect(sumOf(sorted.reverse())).toBe(sumOf(numbers));
      }),
    );
  });
});

describe('QuantileSketch', () => {
  it('has nothing to say about nothing', () => {
    const sketch = new QuantileSketch();
    expect([sketch.mean, sketch.quantile(0.5)]).toEqual([undefined, undefined]);
  });

  it('gives one value back as it is', () => {
    const sketch = new QuantileSketch();
    sketch.add(123.4);
    expect([sketch.mean, sketch.quantile(0.5), sketch.quantile(0.95)]).toEqual([123.4, 123.4, 123.4]);
  });

  it('counts zeros', () => {
    const sketch = new QuantileSketch();
    for (const value of [0, 0, 0, 8]) sketch.add(value);
    expect([sketch.mean, sketch.quantile(0.5)]).toEqual([2, 0]);
    expect(sketch.quantile(0.95)).toBe(8);
  });

  it('is within half a percent of the value of that rank', () => {
    const values = fc.array(fc.double({ min: 0.001, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.constantFrom(0.5, 0.95), (numbers, q) => {
        const sketch = new QuantileSketch();
        for (const value of numbers) sketch.add(value);
        const exact = [...numbers].sort((a, b) => a - b)[Math.max(1, Math.ceil(q * numbers.length)) - 1] as number;
        expect(Math.abs((sketch.quantile(q) as number) - exact)).toBeLessThanOrEqual(0.005 * exact + 1e-9);
      }),
    );
  });
});

describe('IntColumn', () => {
  it('keeps what is pushed, however wide', () => {
    const values = fc.array(fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 70_000 }), fc.constant(2 ** 32 - 1)), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(values, (numbers) => {
        const column = new IntColumn();
        for (const value of numbers) column.push(value);
        expect(numbers.map((_, i) => column.at(i))).toEqual(numbers);
        expect(column.length).toBe(numbers.length);
      }),
    );
  });

  it.each([-1, 0.5, 2 ** 32, Number.NaN])('refuses %d', (value) => {
    expect(() => new IntColumn().push(value)).toThrow(RangeError);
  });
});

describe('IdTable', () => {
  it('numbers distinct texts in the order they come', () => {
    const table = new IdTable();
    expect(['a', 'b', 'a', '', 'c', ''].map((text) => table.idOf(text))).toEqual([0, 1, 0, 2, 3, 2]);
    expect(table.size).toBe(4);
  });

  it('tells a hundred thousand texts apart, and finds each again', () => {
    const table = new IdTable();
    for (let i = 0; i < 100_000; i++) expect(table.idOf(`sample-${i}`)).toBe(i);
    for (let i = 0; i < 100_000; i += 997) expect(table.idOf(`sample-${i}`)).toBe(i);
  });

  it('ranks texts the same whatever order they came in', () => {
    const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`);
    const rankOf = (order: readonly string[]) => {
      const table = new IdTable();
      for (const text of order) table.idOf(text);
      const ranks = table.ranks();
      return new Map(order.map((text) => [text, ranks[table.idOf(text)]]));
    };
    const forward = rankOf(texts);
    const backward = rankOf([...texts].reverse());
    for (const text of texts) expect(forward.get(text)).toBe(backward.get(text));
  });
});

describe('TopList', () => {
  it('keeps the first few of a sorted list without sorting it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 })), fc.integer({ min: 1, max: 5 }), (numbers, limit) => {
        const top = new TopList<number>(limit, (a, b) => a - b);
        for (const value of numbers) top.add(value);
        expect(top.values).toEqual([...numbers].sort((a, b) => a - b).slice(0, limit));
      }),
    );
  });
});
