import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../lib/random.ts';
import { type Fact, factSchema } from '../../schema/record.ts';
import { dated, mingled } from './sessions.ts';

const fact = (id: string): Fact => ({ id, key: id, text: `${id}: value` });
const ids = (facts: readonly Fact[]) => facts.map(({ id }) => id);
const DAY_MS = 86_400_000;

describe('mingled', () => {
  it('shuffles the sample’s own facts one by one and keeps each other conversation in one piece', () => {
    const own = ['a', 'b', 'c', 'd'].map(fact);
    const others = [['x1', 'x2', 'x3'].map(fact), ['y1', 'y2'].map(fact)];
    const orders = [0, 1, 2, 3].map((seed) => mingled(own, others, seededRandom(seed)).map(ids));
    for (const order of orders) {
      expect([...order].sort()).toEqual([['a'], ['b'], ['c'], ['d'], ['x1', 'x2', 'x3'], ['y1', 'y2']]);
    }
    expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(1);
  });
});

describe('dated', () => {
  it('deals the pieces in turn, with the days, hours and minutes that the random numbers say', () => {
    // A gap of 1 + floor(0.5 * 14) = 8 days, at 7:00 + floor(0.25 * 840) = 210 minutes; then 1 day, at 7:00.
    const numbers = [0.5, 0.25, 0, 0];
    const pieces = [['a'], ['x1', 'x2'], ['b']].map((names) => names.map(fact));
    expect(dated(pieces, 2, () => numbers.shift() as number)).toEqual([
      { ...fact('a'), at: '2025-01-13T10:30:00.000Z', session: 's1' },
      { ...fact('b'), at: '2025-01-13T10:31:00.000Z', session: 's1' },
      { ...fact('x1'), at: '2025-01-14T07:00:00.000Z', session: 's2' },
      { ...fact('x2'), at: '2025-01-14T07:01:00.000Z', session: 's2' },
    ]);
  });

  it('has no session without a fact', () => {
    expect(dated([[fact('a')], [fact('b')]], 5, seededRandom(0)).map(({ session }) => session)).toEqual(['s1', 's2']);
    expect(dated([], 5, seededRandom(0))).toEqual([]);
  });

  it('loses no fact, fills every session, rises in time, and is the same each time', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 8 }), fc.integer(), (lengths, n, seed) => {
        const pieces = lengths.map((length, i) => Array.from({ length }, (_, j) => fact(`${i}.${j}`)));
        const facts = dated(pieces, n, seededRandom(seed));
        expect(ids(facts).sort()).toEqual(ids(pieces.flat()).sort());
        expect(new Set(facts.map(({ session }) => session)).size).toBe(Math.min(n, pieces.length));
        const times = facts.map(({ at }) => Date.parse(at ?? ''));
        for (const [i, time] of times.entries()) if (i > 0) expect(time).toBeGreaterThan(times[i - 1] as number);
        expect(facts.every((one) => factSchema.safeParse(one).success)).toBe(true);
        expect(dated(pieces, n, seededRandom(seed))).toEqual(facts);
        // Sessions follow each other, and a conversation stays in one of them.
        const order = facts.map(({ session }) => Number(session?.slice(1)));
        expect([...order].sort((a, b) => a - b)).toEqual(order);
        for (const piece of pieces) {
          const sessions = facts.filter(({ id }) => piece.some((one) => one.id === id)).map(({ session }) => session);
          expect(new Set(sessions).size).toBe(1);
        }
        if (lengths.every((length) => length < 100)) {
          const firsts = times.filter((_, i) => order[i] !== order[i - 1]);
          const gaps = firsts.slice(1).map((time, i) => (time - (firsts[i] as number)) / DAY_MS);
          for (const gap of gaps) expect(gap > 0.4 && gap < 14.6).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});
