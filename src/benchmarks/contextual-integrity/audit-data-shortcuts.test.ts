import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelledFact, shortcutsOf } from './audit-data-shortcuts.ts';

/** A row of facts in order: `+key` is allowed, `-key` is not. */
const rowOf = (...facts: string[]): LabelledFact[] =>
  facts.map((fact, place) => ({ key: fact.slice(1), place, of: facts.length, allowed: fact.startsWith('+') }));

const counted = (seeds: readonly LabelledFact[][]) =>
  Object.fromEntries(shortcutsOf(seeds).map(({ id, accuracy }) => [id, [accuracy.numerator, accuracy.denominator]]));

describe('shortcutsOf', () => {
  // Key names by hand. Left out: seed 1, "date" is a tie (2/5 each), so allowed, right; "bank note" is a tie too, wrong.
  // Seed 2: "date" is a tie (2/7 each), right; "note" 1/7 against 2/7, right. Seed 3: "bank" 1/7 against 2/7, wrong;
  // "date" 3/7 against 1/7, wrong. So 3 of 6.
  it('learns from the other seeds alone', () => {
    const seeds = [rowOf('+event_date', '-bank_note'), rowOf('+date', '-note'), rowOf('+bank', '-date')];
    expect(counted(seeds)).toEqual({
      majority: [3, 6],
      first_half: [6, 6],
      position_threshold: [6, 6],
      key_name: [3, 6],
    });
  });

  // Middles of three facts stand at 1/6, 1/2 and 5/6. The half takes the first alone. From the other two seeds, any
  // threshold above 1/2 and up to 5/6 is right for all of their facts.
  it('fits a threshold where the half is wrong', () => {
    const seeds = [1, 2, 3].map(() => rowOf('+a', '+b', '-c'));
    expect(counted(seeds)).toMatchObject({ majority: [6, 9], first_half: [6, 9], position_threshold: [9, 9] });
  });

  it('gives no answer from a seed to its own facts', () => {
    // Rows of one seed are answered from the others only, where nothing of "x" and "y" was ever seen: the larger side.
    const seeds = [[...rowOf('+x', '-y'), ...rowOf('+x', '-y')], rowOf('+p', '+q', '-r')];
    expect(counted(seeds).key_name).toEqual([2 + 2, 7]);
  });

  it('cannot learn from one seed alone, and says so', () => {
    const [, half, threshold, keyName] = shortcutsOf([rowOf('+a', '-b')]);
    expect(half?.accuracy).toMatchObject({ defined: true, value: 1 });
    for (const fitted of [threshold, keyName]) {
      expect(fitted?.accuracy).toMatchObject({
        defined: false,
        reason: 'there is one seed alone, and no other to learn from',
      });
    }
    for (const { accuracy } of shortcutsOf([])) expect(accuracy).toMatchObject({ defined: false });
  });

  it('does not depend on the order of the seeds, and stays within the facts', () => {
    const fact = fc.tuple(fc.boolean(), fc.constantFrom('name', 'bank_id', 'note_1', 'note_2', 'date'));
    const row = fc
      .array(fact, { maxLength: 6 })
      .map((facts) => rowOf(...facts.map(([yes, key]) => `${yes ? '+' : '-'}${key}`)));
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (seeds) => {
        const shortcuts = shortcutsOf(seeds);
        expect(shortcutsOf(seeds.toReversed())).toEqual(shortcuts);
        for (const { accuracy } of shortcuts) expect(accuracy.numerator).toBeLessThanOrEqual(accuracy.denominator);
      }),
    );
  });
});
