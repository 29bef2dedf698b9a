import { describe, expect, it } from 'vitest';
import { keywordIndex } from './keyword-index.ts';

const filled = async (...texts: string[]) => {
  const index = keywordIndex();
  await index.add(texts);
  return index;
};

describe('keywordIndex', () => {
  it('scores as worked out by hand', async () => {
    // N = 3, |d| = 2, 3, 2, average 7/3. "red" is in 2 texts: idf = ln(1 + 1.5 / 2.5) = ln 1.6.
    // d0: 2.2 / (1 + 1.2 (0.25 + 0.75 * 6/7)) = 2.2 / 2.0714286; d1: 4.4 / (2 + 1.2 (0.25 + 0.75 * 9/7)) = 4.4 / 3.4571429
    const index = await filled('red apple', 'red car red', 'blue car');
    const hits = await index.search('red', 9);
    expect(hits.map(({ position }) => position)).toEqual([1, 0]);
    expect(hits[0]?.score).toBeCloseTo(Math.log(1.6) * 1.2727273, 6);
    expect(hits[1]?.score).toBeCloseTo(Math.log(1.6) * 1.062069, 6);
  });

  it('adds up over the distinct terms of a query', async () => {
    const index = await filled('red apple', 'green pear');
    const score = async (query: string) => (await index.search(query, 1))[0]?.score ?? 0;
    expect(await score('red apple')).toBeCloseTo((await score('red')) + (await score('apple')), 12);
    expect(await score('red red red')).toBe(await score('red'));
  });

  it('ignores length where b is 0, and repetition where k1 is 0', async () => {
    const texts = ['red', 'red and many more words', 'red red'];
    const scores = async (k1: number, b: number) => {
      const index = keywordIndex({ k1, b });
      await index.add(texts);
      return (await index.search('red', 3)).map(({ score }) => score);
    };
    const flat = await scores(0, 0);
    expect(new Set(flat).size).toBe(1);
    const [most, ...rest] = await scores(1.2, 0);
    expect(new Set(rest).size).toBe(1);
    expect(most).toBeGreaterThan(rest[0] as number);
  });

  it('keeps ties in the order of adding', async () => {
    const index = await filled('a hotel', 'other', 'the hotel', 'hotel');
    expect((await index.search('hotel', 9)).map(({ position }) => position)).toEqual([0, 2, 3]);
    expect((await index.search('hotel', 2)).map(({ position }) => position)).toEqual([0, 2]);
  });

  it('finds what was added later, with the new averages', async () => {
    const late = await filled('red apple');
    await late.add(['red car red', 'blue car']);
    const whole = await filled('red apple', 'red car red', 'blue car');
    expect(await late.search('red car', 9)).toEqual(await whole.search('red car', 9));
  });

  it('finds nothing without a shared term, in nothing, and for words that mean nothing', async () => {
    expect(await (await filled('red')).search('blue', 5)).toEqual([]);
    expect(await (await filled()).search('red', 5)).toEqual([]);
    expect(await (await filled('the red')).search('the', 5)).toEqual([]);
    expect(await (await filled('', '?')).search('red', 5)).toEqual([]);
  });

  it('takes words that objects know', async () => {
    const index = await filled('constructor __proto__', 'toString');
    expect((await index.search('constructor', 5)).map(({ position }) => position)).toEqual([0]);
  });
});
