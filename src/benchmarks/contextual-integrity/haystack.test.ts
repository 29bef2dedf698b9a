import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ciRow } from '../../../test/support/dataset-rows.ts';
import { sharedData } from '../../../test/support/shared-data.ts';
import type { HeamsError } from '../../lib/errors.ts';
import { packageRoot } from '../../lib/shipped.ts';
import type { Fact } from '../../schema/record.ts';
import { Haystack } from './haystack.ts';
import { withPools } from './pool.ts';
import { toSample } from './rows.ts';
import type { CiSample } from './sample.ts';
import { finder } from './string-match.ts';

type Texts = Record<string, string>;

/** A sample whose seed is `seed`; its first fact is allowed, its second a secret, each annotated with the whole value. */
function sample(id: string, information: Texts, seed = id): CiSample {
  const row = ciRow();
  const [allowed = [], disallowed = []] = Object.entries(information);
  const annotation = {
    allowed: Object.fromEntries([allowed]),
    disallowed: disallowed.length > 0 ? Object.fromEntries([disallowed]) : {},
  };
  const item = { ...row.dataset_item, information, annotation };
  const where = { file: 'rows.jsonl' };
  return toSample({ id, seed: { ...row.seed, recipient: seed }, dataset_item: item }, 0, { seed: 0, where });
}

const drawn = (samples: CiSample[], n: number, seed = 0) =>
  new Haystack(samples, { n, seed }).conversationsFor(samples[0] as CiSample).flat();
const texts = (facts: readonly Fact[]) => facts.map(({ text }) => text).sort();

const failure = (run: () => unknown): HeamsError => {
  try {
    run();
  } catch (error) {
    return error as HeamsError;
  }
  return expect.unreachable('nothing was thrown');
};

describe('Haystack', () => {
  const own = sample('own', { City: 'Lisbon', Illness: 'type 2 diabetes', Pet: 'a dog called Bus' });

  it('takes what has nothing in common with the sample, and says that it is a distractor', () => {
    const other = sample('other', { Hobby: 'rowing', Debt: '4,000 euros' });
    expect(drawn([own, other], 2).sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
      { id: 'c1.Debt', key: 'Debt', text: 'Debt: 4,000 euros', distractor: true },
      { id: 'c1.Hobby', key: 'Hobby', text: 'Hobby: rowing', distractor: true },
    ]);
  });

  it.each([
    ['a value that equals a secret, but for case and marks', { Note: 'Type 2, diabetes!' }],
    ['a value that holds a secret', { Note: 'She has type 2 diabetes now' }],
    ['a value that is a part of a secret', { Note: 'diabetes' }],
    ['a value that holds a field', { Note: 'Born in LISBON' }],
    ['an annotated value inside a longer word, as the raw string judge finds it', { Note: 'Lisbonense' }],
    ['an annotated value in the key', { 'Flat in Lisbon': 'third floor' }],
    ['a part of a value that is not annotated', { Note: 'dog' }],
    ['a key of the sample in other letters', { pet: 'none' }],
  ])('leaves out %s', (_what, information) => {
    const other = sample('other', { Hobby: 'rowing', ...information } as Texts);
    expect(texts(drawn([own, other], 1))).toEqual(['Hobby: rowing']);
    expect(failure(() => drawn([own, other], 2))).toMatchObject({ code: 'haystack_too_small', found: '1' });
  });

  it('takes a value that is not annotated inside a longer word: no judge looks for it', () => {
    const other = sample('other', { Place: 'a dog called Businessman', Hobby: 'rowing' });
    const bus = sample('own', { City: 'Lisbon', Illness: 'type 2 diabetes', Pet: 'Bus' });
    expect(texts(drawn([bus, other], 2))).toEqual(['Hobby: rowing', 'Place: a dog called Businessman']);
  });

  it('takes no two facts of one key, and nothing of a sample of the same seed', () => {
    const first = sample('first', { Hobby: 'rowing' });
    const second = sample('second', { hobby: 'chess', Car: 'none' });
    const twin = sample('twin', { Job: 'baker' }, 'own');
    const error = failure(() => drawn([own, first, second, twin], 3));
    expect(error.message).toContain('"own"');
    expect(error).toMatchObject({
      code: 'haystack_too_small',
      found: '2',
      hint: expect.stringContaining('to 2 or less'),
    });
    expect(drawn([own, first, second, twin], 2).filter(({ key }) => key.toLowerCase() === 'hobby')).toHaveLength(1);
  });

  const word = fc.constantFrom('ann', 'Ann', 'bo', 'annual', 'x-ray', 'ray', '7', '17', 'Łódź', 'lodz', 'straße');
  const value = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
  const key = fc.constantFrom('k1', 'k2', 'K2', 'k_3', 'k 3', 'k4', 'k5', 'k6', 'k7', 'k8', 'ann');
  const information = fc.dictionary(key, value, { minKeys: 1, maxKeys: 4 });
  const dataset = fc
    .array(fc.tuple(information, fc.constantFrom('a', 'b', 'c', 'd')), { minLength: 2, maxLength: 12 })
    .map((rows) => rows.map(([facts, seed], i) => sample(`s${i}`, facts, seed)));

  /** Whether one of the string judges, or a search at whole words, finds anything of the sample in the distractor. */
  function common(of: CiSample, { key: name, text }: Fact): string[] {
    const value = text.slice(name.length + 2);
    const values = of.facts.map((fact) => fact.text.slice(fact.key.length + 2));
    const annotated = [...of.data.secrets, ...of.data.fields].flatMap(({ parts }) => parts);
    return [
      ...annotated.filter((part) => finder(text, 'raw')(part) !== undefined),
      ...[...annotated, ...values].filter((part) => finder(text, 'boundary')(part) !== undefined),
      ...[...annotated, ...values].filter((part) => finder(part, 'boundary')(value) !== undefined),
    ];
  }

  it('never collides, gives exactly n or says how many there are, and is the same each time', () => {
    fc.assert(
      fc.property(dataset, fc.integer({ min: 1, max: 6 }), fc.integer(), (samples, n, seed) => {
        const stack = new Haystack(samples, { n, seed });
        for (const one of samples) {
          let facts: Fact[];
          try {
            facts = stack.conversationsFor(one).flat();
          } catch (error) {
            const { code, found } = error as HeamsError;
            expect(code).toBe('haystack_too_small');
            // As many as it says there are can be had.
            const fewer = Number(found);
            expect(fewer).toBeLessThan(n);
            if (fewer > 0) {
              expect(new Haystack(samples, { n: fewer, seed }).conversationsFor(one).flat()).toHaveLength(fewer);
            }
            continue;
          }
          expect(facts).toHaveLength(n);
          const ids = [...one.facts, ...facts].map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          const keys = [...one.facts, ...facts].map((fact) => fact.key.toLowerCase());
          expect(new Set(keys).size).toBe(new Set(one.facts.map((fact) => fact.key.toLowerCase())).size + n);
          expect(facts.flatMap((fact) => common(one, fact))).toEqual([]);
          const others = samples.filter(({ cluster }) => cluster !== one.cluster).flatMap((other) => other.facts);
          for (const { text } of facts) expect(others.map((fact) => fact.text)).toContain(text);
          expect(new Haystack([...samples].reverse(), { n, seed }).conversationsFor(one).flat()).toEqual(facts);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('draws other pools by another seed, and leaves most pools as they are when a sample goes', () => {
    const samples = Array.from({ length: 60 }, (_, i) => sample(`s${i}`, { [`a${i}`]: `${i}a`, [`b${i}`]: `${i}b` }));
    const pools = (of: CiSample[], seed: number) => {
      const stack = new Haystack(of, { n: 6, seed });
      return new Map(of.map((one) => [one.id, JSON.stringify(stack.conversationsFor(one))]));
    };
    const [before, other, without] = [pools(samples, 0), pools(samples, 1), pools(samples.slice(1), 0)];
    expect([...before].filter(([id, pool]) => other.get(id) !== pool).length).toBeGreaterThan(50);
    // Three donors make a pool: one that goes is missing in the three pools before its place.
    const changed = [...without].filter(([id, pool]) => before.get(id) !== pool);
    expect(changed).toHaveLength(3);
  });
});

describe('a haystack of real scenarios', () => {
  const bundled = () => {
    const file = join(packageRoot(), 'datasets/heams_scenarios/scenarios.jsonl');
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const published = () => JSON.parse(readFileSync(join(sharedData as string, 'contextual_integrity_729.json'), 'utf8'));

  /** No string judge finds anything of a sample in what it got on top, all distractors in one message. */
  function check(rows: unknown[], n: number): void {
    const samples = rows.map((row, i) => toSample(row, i, { seed: 0, where: { file: 'rows' } }));
    const stack = new Haystack(samples, { n, seed: 0 });
    for (const one of samples) {
      const facts = stack.conversationsFor(one).flat();
      expect(facts).toHaveLength(n);
      const message = facts.map(({ text }) => text).join('\n');
      for (const variant of ['raw', 'boundary'] as const) {
        const find = finder(message, variant);
        const parts = [...one.data.secrets, ...one.data.fields].flatMap((item) => item.parts);
        expect([one.id, parts.filter((part) => find(part) !== undefined)]).toEqual([one.id, []]);
      }
    }
  }

  it('holds nothing of the bundled scenarios', () => check(bundled(), 60));
  it.skipIf(!sharedData)('holds nothing of the real 729 rows (skipped where they are not there)', () => {
    check(published(), 60);
  });
});

describe('withPools', () => {
  const samples = Array.from({ length: 8 }, (_, i) => sample(`s${i}`, { [`a${i}`]: `${i}a`, [`b${i}`]: `${i}b` }));

  it('leaves samples as they are where nothing is asked for', () => {
    expect(withPools(samples, samples, { haystack: 0, sessions: 0, seed: 3 })).toEqual(samples);
  });

  it('keeps the sample’s own facts, and is covered by the hash', () => {
    const pools = (haystack: number, sessions: number, seed = 0) =>
      withPools(samples, samples, { haystack, sessions, seed });
    const made = [samples, pools(4, 0), pools(0, 2), pools(4, 2), pools(4, 2, 1)];
    for (const [i, own] of samples.entries()) {
      for (const version of made) {
        const facts = version[i]?.facts.filter(({ distractor }) => !distractor) ?? [];
        expect(texts(facts)).toEqual(texts(own.facts));
        expect(version[i]?.data).toBe(own.data);
      }
      expect(new Set(made.map((version) => version[i]?.hash)).size).toBe(made.length);
    }
    expect(pools(4, 2)).toEqual(pools(4, 2));
  });

  it('gives a sample the same pool whatever part of the dataset is run', () => {
    const options = { haystack: 4, sessions: 3, seed: 0 };
    expect(withPools(samples.slice(0, 2), samples, options)).toEqual(withPools(samples, samples, options).slice(0, 2));
  });
});
