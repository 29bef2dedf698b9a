import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemFlags } from '../../schema/ci-metrics.ts';
import type { Json } from '../../schema/json.ts';
import { isLabel, isPlaceholder, wordsOf } from './flag-words.ts';
import { excerptOf, type FlagInput, flagItems, flagRules, noteItems } from './flags.ts';

interface Parts {
  task?: string;
  facts?: Record<string, string>;
  secrets?: Record<string, Json>;
  fields?: Record<string, Json>;
}

const valuesOf = (values: Record<string, Json> = {}) => Object.entries(values).map(([key, value]) => ({ key, value }));

function input({ task = 'Book a room.', facts = {}, secrets, fields }: Parts): FlagInput {
  const pool = Object.entries(facts).map(([key, value]) => ({ id: key, key, text: `${key}: ${value}` }));
  return { task, facts: pool, secrets: valuesOf(secrets), fields: valuesOf(fields) };
}

const secretFlags = (parts: Parts) => flagItems(input(parts)).secret[0];
const fieldFlags = (parts: Parts) => flagItems(input(parts)).field[0];

describe('flagItems', () => {
  it('leaves an ordinary item alone', () => {
    const parts = {
      facts: { Health: 'Takes RX2019 since May', Arrival: 'We come on 5 June' },
      secrets: { Health: 'RX2019' },
      fields: { Arrival: '5 June' },
    };
    expect(flagItems(input(parts))).toEqual({ secret: [[]], field: [[]] });
    expect(noteItems(input(parts))).toEqual({ secret: [[]], field: [[]] });
  });

  it('equal_to_allowed, equal_to_disallowed: any leaf equals any leaf, whatever the case', () => {
    const parts = { secrets: { Doctor: ['Dr. Wells', 'cardiology'] }, fields: { Who: { name: 'DR. WELLS' } } };
    expect(secretFlags(parts)).toEqual(['equal_to_allowed']);
    expect(fieldFlags(parts)).toEqual(['equal_to_disallowed']);
    expect(secretFlags({ ...parts, fields: { Who: 'Dr. Wells, M.D.' } })).toEqual([]);
  });

  it('in_task: a part stands in the task', () => {
    expect(secretFlags({ task: 'Write about my MIGRAINES.', secrets: { Note: ['migraines', 'Sumatriptan'] } })).toEqual(
      ['in_task'],
    );
  });

  it('in_other_allowed_fact: the own fact and disallowed ones do not count, keys of facts do', () => {
    const facts = { Plan: 'on Atenolol', Refill: 'Atenolol 25 mg', Extra: 'more Atenolol' };
    const secrets = { Plan: 'Atenolol' };
    expect(secretFlags({ facts, secrets, fields: { Refill: '25 mg' } })).toEqual(['in_other_allowed_fact']);
    expect(secretFlags({ facts, secrets: { ...secrets, Refill: '25 mg' } })).toEqual([]);
    expect(
      secretFlags({
        facts: { Plan: 'on Atenolol', 'Atenolol refill': 'soon' },
        secrets,
        fields: { 'Atenolol refill': 'soon' },
      }),
    ).toEqual(['in_other_allowed_fact']);
  });

  it('short: three characters or fewer, counted as a reader counts', () => {
    expect(secretFlags({ secrets: { Mode: 'bus' } })).toEqual(['short']);
    expect(secretFlags({ secrets: { Mode: 'boat' } })).toEqual([]);
    expect(secretFlags({ secrets: { Rooms: ['seaside', 12] } })).toEqual(['short']);
    expect(secretFlags({ secrets: { Mood: '😀😀😀' } })).toEqual(['short']);
    expect(secretFlags({ secrets: { Mood: '😀😀😀😀' } })).toEqual([]);
  });

  it('absent_from_fact: a part is not in the value of its own fact', () => {
    const secrets = { Allergy: 'peanut allergy' };
    expect(secretFlags({ facts: { Allergy: 'allergic to peanuts' }, secrets })).toEqual(['absent_from_fact']);
    expect(secretFlags({ facts: { Allergy: 'a Peanut Allergy' }, secrets })).toEqual([]);
    // The key in front of the fact's text is no part of its value.
    expect(secretFlags({ facts: { 'Room number': '12' }, secrets: { 'Room number': 'm number: 12' } })).toEqual([
      'absent_from_fact',
    ]);
  });

  it('without a fact of its key there is nothing to be absent from, and a note', () => {
    expect(secretFlags({ secrets: { Allergy: 'peanuts' } })).toEqual([]);
    expect(noteItems(input({ secrets: { Allergy: 'peanuts' } })).secret).toEqual([['without_fact']]);
  });

  it('notes a field in a fact that must not be shared, and flags nothing', () => {
    const parts = {
      facts: { Name: 'Ada Moreau', Chat: 'This is Ada Moreau, my PIN is 8841' },
      secrets: { Chat: '8841' },
      fields: { Name: 'Ada Moreau' },
    };
    expect(fieldFlags(parts)).toEqual([]);
    expect(noteItems(input(parts)).field).toEqual([['in_other_disallowed_fact']]);
  });

  it('on_both_sides: the key is on both', () => {
    const parts = { secrets: { Trip: 'in March' }, fields: { Trip: 'to Denver' } };
    expect(secretFlags(parts)).toEqual(['on_both_sides']);
    expect(fieldFlags(parts)).toEqual(['on_both_sides']);
  });

  it('has one rule for each flag', () => {
    expect(flagRules.map(({ id }) => id)).toEqual([...itemFlags]);
    for (const { definition } of flagRules) expect(definition).toMatch(/^[A-Z].*\.$/);
  });
});

describe('labels', () => {
  it.each([
    ['Passport Number', 'personal_id'],
    ['medical history', 'note'],
    ['PIN', 'previous_email_thread'],
    ['RSVP', 'RSVP_details'],
    ['PassportNumber', 'document'],
    ['guest list', 'guest_list'],
  ])('%j under %j is one', (part, key) => {
    expect(isLabel(part, key)).toBe(true);
  });

  it.each([
    ['Passport P1234567', 'Passport'],
    ['1', 'Email 1'],
    ['Ada Moreau', 'Name'],
    ['bipolar', 'medical_history'],
    ['', 'Name'],
    ['–', 'Name'],
  ])('%j under %j is none', (part, key) => {
    expect(isLabel(part, key)).toBe(false);
  });

  it('takes names apart', () => {
    expect(wordsOf('Previous_Email: Bill2Inquiry')).toEqual(['previous', 'email', 'bill', '2', 'inquiry']);
    expect(wordsOf('SSN')).toEqual(['ssn']);
    expect(wordsOf('été-naïveTest')).toEqual(['été', 'naïve', 'test']);
  });
});

describe('placeholders', () => {
  it.each([
    ...['[Name]', 'Dear [Your Name]', '<name>', '{{ name }}', 'XXXX', 'XXX-XX-1234', '****-****-****-3456', 'n/a'],
    ...['N/A', 'TBD.', 'not provided', '123-456-7890', '(123) 456-7890', '123-45-6789', '987-65-4321', '9876543210'],
    ...['1234', '0000', '555-5555', '+1-234-567-8901', '1234 5678 9012 3456', '012-34-5678'],
  ])('%j is one', (part) => {
    expect(isPlaceholder(part)).toBe(true);
  });

  it.each([
    ...['Ada Moreau', '4111-1111', '555-123-4567', '2345', '123', 'P1234567', 'Xxavier', 'Marxxxism', '[1]', '< 5 km'],
    ...['$5,555', '1357', 'unknown allergies', 'none of them', ''],
  ])('%j is none', (part) => {
    expect(isPlaceholder(part)).toBe(false);
  });
});

describe('excerptOf', () => {
  it('puts the leaves on one line and cuts at 120 characters', () => {
    expect(excerptOf({ a: 'one\n two', b: [3, true] })).toBe('one two 3 true');
    expect([...excerptOf('😀'.repeat(300))].length).toBe(120);
    expect(excerptOf('x'.repeat(120))).toBe('x'.repeat(120));
  });
});

describe('the rules together', () => {
  const word = fc.constantFrom('bus', 'Dr. Wells', 'MAY 5', 'may 5', 'N/A', 'policy', '1234', 'peanuts', 'Oslo');
  const side = fc.dictionary(
    fc.constantFrom('Trip', 'Mode', 'Policy', 'note_1'),
    fc.oneof(word, fc.array(word, { minLength: 1 })),
  );
  const facts = fc.dictionary(fc.constantFrom('Trip', 'Mode', 'Policy', 'note_1'), word);
  const parts = fc.record({ task: word, facts, secrets: side, fields: side });

  it('mirror each other, do not mind case, and do not mind the order of facts and items', () => {
    fc.assert(
      fc.property(parts, (one) => {
        const flags = flagItems(input(one));
        const has = (lists: readonly string[][], flag: string) => lists.some((own) => own.includes(flag));
        expect(has(flags.secret, 'equal_to_allowed')).toBe(has(flags.field, 'equal_to_disallowed'));
        expect(has(flags.secret, 'on_both_sides')).toBe(has(flags.field, 'on_both_sides'));

        const { facts: pool, ...rest } = input(one);
        expect(flagItems({ ...rest, facts: [...pool].reverse() })).toEqual(flags);
        expect(flagItems({ ...rest, facts: pool, secrets: [...rest.secrets].reverse() }).secret.toReversed()).toEqual(
          flags.secret,
        );

        const loud = JSON.parse(
          JSON.stringify({ task: rest.task, secrets: rest.secrets.map(({ value }) => value) }).toUpperCase(),
        );
        const louder = loud.SECRETS.map((value: Json, i: number) => ({ key: rest.secrets[i]?.key ?? '', value }));
        expect(flagItems({ ...rest, facts: pool, task: loud.TASK, secrets: louder })).toEqual(flags);
      }),
    );
  });
});
