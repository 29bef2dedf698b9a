import { stopWords, unspaced } from '../index/terms.ts';

/** How FTS5 parts a text into what can be searched for. */
export const tokenizers = ['unicode61', 'porter', 'trigram'] as const;
export type Tokenizer = (typeof tokenizers)[number];

/** Marks are parts of words: without them the vowel signs of Indic scripts would part every word. */
const words = "unicode61 remove_diacritics 2 categories 'L* N* M* Co'";

/** The value of FTS5's `tokenize` option. */
export const tokenizeOption: Readonly<Record<Tokenizer, string>> = {
  unicode61: words,
  porter: `porter ${words}`,
  trigram: 'trigram remove_diacritics 1',
};

const word = /[\p{L}\p{N}\p{M}]+/gu;
const TRIGRAM = 3;

/** What cannot travel to SQLite as it is: a NUL ends a text there, and half of a character has no UTF-8. */
const unsearchable = /\0|\p{Surrogate}/gu;

/** A text as it is indexed. The fact itself is kept beside it, whole. */
export const indexable = (text: string): string => text.replace(unsearchable, ' ');

function triples(run: string): string[] {
  const characters = Array.from(run);
  return characters.slice(TRIGRAM - 1).map((_, i) => characters.slice(i, i + TRIGRAM).join(''));
}

/** What trigrams can find: words of three characters or more, and every three of a script without spaces. */
function trigramWords(raw: string): string[] {
  const spaced = raw.split(unspaced).filter((part) => Array.from(part).length >= TRIGRAM);
  return [...spaced, ...(raw.match(unspaced) ?? []).flatMap(triples)];
}

/**
 * A query in FTS5's own language: any of the query's words, without English stop words. Every word is letters, digits
 * and marks inside quotes, so that nothing in a query is read as an operator, a column or a prefix. Nothing where no
 * word is left.
 */
export function fullTextQuery(query: string, tokenizer: Tokenizer): string | undefined {
  const all = (query.match(word) ?? []).map((one) => one.toLowerCase()).filter((one) => !stopWords.has(one));
  const wanted = new Set(tokenizer === 'trigram' ? all.flatMap(trigramWords) : all);
  if (wanted.size === 0) return undefined;
  return Array.from(wanted, (one) => `"${one}"`).join(' OR ');
}
