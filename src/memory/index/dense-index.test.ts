import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../../test/support/fake-call.ts';
import type { EmbeddingModel } from '../../contracts/model.ts';
import { denseIndex } from './dense-index.ts';

/** Reads a vector out of its text: "3 4" is (3, 4). */
const written: EmbeddingModel = {
  id: 'test:written',
  embed: async (texts) => texts.map((text) => Float32Array.from(text.split(' ').map(Number))),
};
const filled = async (...texts: string[]) => {
  const index = denseIndex(written, fakeCall());
  await index.add(texts);
  return index;
};

describe('denseIndex', () => {
  it('ranks by the cosine, whatever the lengths', async () => {
    const index = await filled('0 2', '3 4', '-1 0', '10 0');
    const hits = await index.search('5 0', 9);
    expect(hits.map(({ position }) => position)).toEqual([3, 1, 0, 2]);
    for (const [i, cosine] of [1, 0.6, 0, -1].entries()) expect(hits[i]?.score).toBeCloseTo(cosine, 6);
    expect(await index.search('5 0', 2)).toEqual(hits.slice(0, 2));
  });

  it('keeps ties in the order of adding', async () => {
    const index = await filled('0 1', '1 0');
    await index.add(['2 0', '1 0']);
    expect((await index.search('1 0', 3)).map(({ position }) => position)).toEqual([1, 2, 3]);
  });

  it('never finds a text without a direction, and finds nothing for such a query', async () => {
    const index = await filled('0 0', '1 0');
    expect((await index.search('1 0', 9)).map(({ position }) => position)).toEqual([1]);
    expect(await index.search('0 0', 9)).toEqual([]);
  });

  it('does not trouble the model when there is nothing to find', async () => {
    const broken: EmbeddingModel = { id: 'test:broken', embed: () => Promise.reject(new Error('asked')) };
    const index = denseIndex(broken, fakeCall());
    await index.add([]);
    expect(await index.search('1 0', 3)).toEqual([]);
  });

  it.each([
    ['too few vectors', async () => [], 'found', '0'],
    ['a vector with NaN', async () => [Float32Array.of(Number.NaN, 1)], 'expected', 'finite numbers'],
  ])('refuses %s', async (_what, embed, key, value) => {
    const index = denseIndex({ id: 'test:bad', embed }, fakeCall());
    await expect(index.add(['1 0'])).rejects.toMatchObject({ code: 'embedding_bad_response', [key]: value });
  });

  it('refuses vectors of different lengths', async () => {
    const index = await filled('1 0');
    await expect(index.search('1 0 0', 1)).rejects.toMatchObject({ code: 'embedding_bad_response' });
  });
});
