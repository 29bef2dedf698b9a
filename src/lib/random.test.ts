import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from './hash.ts';
import { seededRandom, shuffled } from './random.ts';

const take = (count: number, random: () => number) => Array.from({ length: count }, random);

/** sfc32 as PractRand states it, in integers without bound. */
function sfc32(seed: string): () => number {
  const digest = Buffer.from(sha256(seed), 'hex');
  const word = (value: bigint) => BigInt.asUintN(32, value);
  let [a, b, c] = [0, 4, 8].map((at) => BigInt(digest.readUInt32LE(at))) as [bigint, bigint, bigint];
  let counter = 1n;
  return () => {
    const output = word(a + b + counter);
    counter = word(counter + 1n);
    a = b ^ (b >> 9n);
    b = word(c + (c << 3n));
    c = word(word((c << 21n) | (c >> 11n)) + output);
    return Number(output) / 2 ** 32;
  };
}

/** How many of the numbers fall into each of equal parts of [0, 1). */
function histogram(numbers: readonly number[], bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const value of numbers) {
    const bin = Math.floor(value * bins);
    counts[bin] = (counts[bin] ?? Number.NaN) + 1;
  }
  return counts;
}

/** Pearson's statistic against equal shares. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe('seededRandom', () => {
  it('is sfc32, seeded with the SHA-256 of its parts', () => {
    expect(take(500, seededRandom('shuffle', 0, 'row-12'))).toEqual(take(500, sfc32('shuffle\u00000\u0000row-12')));
  });

  it('gives the same numbers for the same parts, and others for others', () => {
    const numbers = (...parts: (string | number)[]) => take(20, seededRandom(...parts)).join();
    expect(numbers(0, 'a')).toBe(numbers(0, 'a'));
    const all = [numbers(), numbers(0), numbers(1), numbers(0, 'a'), numbers('0a'), numbers('a', 0), numbers('', '0a')];
    expect(new Set(all).size).toBe(all.length);
  });

  it('spreads evenly over [0, 1)', () => {
    const numbers = take(64_000, seededRandom('uniform'));
    expect(numbers.every((value) => value >= 0 && value < 1)).toBe(true);
    const counts = histogram(numbers, 64);
    // 63 degrees of freedom: 103.4 is passed once in a thousand, 30.0 not reached as seldom.
    expect(chiSquare(counts)).toBeLessThan(103.4);
    expect(chiSquare(counts)).toBeGreaterThan(30);
  });

  it('spreads its first number evenly over seeds that follow each other, as samples do', () => {
    const firsts = Array.from({ length: 8000 }, (_, seed) => seededRandom(0, `row-${seed}`)());
    const counts = histogram(firsts, 16);
    // 15 degrees of freedom: 37.7 is passed once in a thousand.
    expect(chiSquare(counts)).toBeLessThan(37.7);
  });
});

describe('shuffled', () => {
  it('gives a permutation and leaves its input alone', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), fc.string(), (items, seed) => {
        const before = [...items];
        const result = shuffled(items, seededRandom(seed));
        expect(items).toEqual(before);
        expect([...result].sort()).toEqual([...items].sort());
        expect(shuffled(items, seededRandom(seed))).toEqual(result);
      }),
    );
  });

  it('gives each of the 24 orders of four equally often', () => {
    const counts = new Map<string, number>();
    const random = seededRandom('orders');
    for (let i = 0; i < 24_000; i++) {
      const order = shuffled(['a', 'b', 'c', 'd'], random).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    // 23 degrees of freedom: 49.7 is passed once in a thousand.
    expect(chiSquare([...counts.values()])).toBeLessThan(49.7);
  });

  it('takes from the end: worked out by hand', () => {
    // i = 3: j = floor(0.5 * 4) = 2; i = 2: j = floor(0 * 3) = 0; i = 1: j = floor(0.9 * 2) = 1.
    const numbers = [0.5, 0, 0.9];
    expect(shuffled(['a', 'b', 'c', 'd'], () => numbers.shift() ?? 0)).toEqual(['d', 'b', 'a', 'c']);
  });
});
