import { afterAll, describe, expect, it } from 'vitest';
import { paraphrases, recallCounts } from '../bench/recall.ts';
import { borrowEncoder } from '../src/memory/encoder/shared.ts';
import { fakeCall } from './support/fake-call.ts';

/** Words as a person would part them; not the terms of any backend. */
const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[a-z0-9]+/g));
/** What can be said of anything; every other word that a question shared with its fact would be no paraphrase. */
const emptyWords = new Set(
  'a an and at by do did does for has have high how i in is it last me much must my not of on or our she he the they to was were we what when where which who why with'.split(
    ' ',
  ),
);

describe('recall on paraphrased questions', async () => {
  const pairs = await paraphrases();
  const encoder = borrowEncoder();
  afterAll(() => encoder.close());

  it('asks 20 questions that share no word of content with their facts', () => {
    expect(pairs.length).toBe(20);
    expect(new Set(pairs.map(({ fact }) => fact)).size).toBe(20);
    const shared = pairs.map(({ fact, question }) =>
      [...wordsOf(question)].filter((word) => wordsOf(fact).has(word) && !emptyWords.has(word)),
    );
    expect(shared).toEqual(pairs.map(() => []));
  });

  it('is what the docs say', async () => {
    const counts = (await recallCounts()).map(({ arm, at1, at3 }) => `${arm}: ${at1} and ${at3}`);
    expect(counts).toEqual([
      'bm25: 0 and 3',
      'sqlite: 0 and 3',
      'sqlite, porter: 0 and 3',
      'sqlite, trigram: 1 and 1',
      'file_memory: 0 and 3',
      'hybrid: 10 and 16',
      'vector: 19 and 20',
    ]);
  });

  it('is what the encoder gives when all 400 pairs are compared by hand', async () => {
    const call = fakeCall();
    const facts = await encoder.embed(
      pairs.map(({ fact }) => fact),
      call,
    );
    const questions = await encoder.embed(
      pairs.map(({ question }) => question),
      call,
    );
    const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
    const cosine = (a: Float32Array, b: Float32Array) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    // A fact's place: how many others are nearer to its question.
    const places = questions.map((question, i) => {
      const own = cosine(question, facts[i] as Float32Array);
      return facts.filter((fact, j) => j !== i && cosine(question, fact) > own).length;
    });
    expect(places.filter((place) => place < 1).length).toBe(19);
    expect(places.filter((place) => place < 3).length).toBe(20);
    // "Why did my brother lose the job?": the argument with the boss comes second.
    expect(places.findIndex((place) => place > 0)).toBe(14);
  });

  it('can be at most 4 for whole words, which is how many questions share any word that an index keeps', () => {
    const stopWords = new Set(['in', 'is', 'the', 'to', 'was']);
    const shared = pairs.map(({ fact, question }) =>
      [...wordsOf(question)].filter((word) => wordsOf(fact).has(word) && !stopWords.has(word)),
    );
    expect(shared.flatMap((words, i) => words.map((word) => `${i}: ${word}`))).toEqual([
      '8: my',
      '12: i',
      '17: i',
      '19: we',
    ]);
  });
});
