import { stopWords, unspaced } from '../index/terms.ts';

const word = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * The words of a query to look for one at a time, each once, in order: in lower case, without English stop words and
 * single letters or digits, which are a part of nearly every text. Accents stay, since a server that compares parts of
 * texts does not take them off. Scripts without spaces give overlapping pairs of characters.
 */
export function queryWords(query: string): string[] {
  const words = (query.toLowerCase().match(word) ?? []).flatMap((raw) => [
    ...raw.split(unspaced).filter((part) => [...part].length > 1),
    ...(raw.match(unspaced) ?? []).flatMap(pairs),
  ]);
  return [...new Set(words)].filter((one) => !stopWords.has(one));
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}
