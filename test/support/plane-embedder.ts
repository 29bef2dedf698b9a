import type { EmbeddingModel } from '../../src/contracts/model.ts';

/**
 * Reads a text's vector out of the text, as "(3, 4) anything": cosines that can be worked out by hand. A text that names
 * none has the vector (0, 0).
 */
export const planeEmbedder: EmbeddingModel = {
  id: 'test:plane',
  embed: async (texts, call) => {
    call.meter.add(call.stage, { calls: 1 });
    return texts.map((text) => {
      const numbers = /\(([^)]*)\)/.exec(text)?.[1]?.split(',').map(Number);
      return Float32Array.from(numbers ?? [0, 0]);
    });
  },
};

/** For the query (1, 0): cosines 1, 1, 0.6, 0 and -1, in another order than they are stored. */
export const planeFacts = [
  { id: 'up', key: 'k', text: '(0, 2) up' },
  { id: 'slope', key: 'k', text: '(3, 4) slope' },
  { id: 'first', key: 'k', text: '(5, 0) along' },
  { id: 'nothing', key: 'k', text: 'nothing' },
  { id: 'second', key: 'k', text: '(5, 0) along too' },
  { id: 'back', key: 'k', text: '(-1, 0) back' },
];
export const planeRanking = [
  ['first', 1],
  ['second', 1],
  ['slope', 0.6],
  ['up', 0],
  ['back', -1],
];
