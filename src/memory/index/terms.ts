/**
 * Words that say nothing about what a text is about. The list is Lucene's `EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`.
 * In a pool of ten facts "to" or "the" is rare enough to count as telling, so a keyword search needs it.
 */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they ' +
    'this to was will with'
  ).split(' '),
);

const word = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that are written without spaces between words. */
export const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
/** Between a small and a capital letter, and before the last of several capitals: CheckIn|Date, PDF|File. */
const hump = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
/** Accents alone: other combining marks carry vowels in Indic scripts. */
const accents = /[\u0300-\u036f]/g;

/**
 * The terms of a text, for keyword search: words in lower case without accents and stop words.
 *
 * - Anything but letters, digits and marks parts words: `check_in-date` is `check`, `date` ("in" is a stop word).
 * - A CamelCase word gives its parts and itself, so that `McDonald` is found by "mcdonald": `mcdonald`, `mc`, `donald`.
 * - Digits stay with their letters: `RX2019` is one term.
 * - Scripts without spaces give overlapping pairs of characters.
 */
export function terms(text: string): string[] {
  const plain = text.normalize('NFKD').replace(accents, '').normalize('NFKC');
  return (plain.match(word) ?? []).flatMap(wordTerms).filter((term) => !stopWords.has(term));
}

function wordTerms(raw: string): string[] {
  const pairs = (raw.match(unspaced) ?? []).flatMap(characterPairs);
  const spaced = raw.split(unspaced).filter((part) => part !== '');
  return [...spaced.flatMap(camelTerms), ...pairs];
}

function camelTerms(raw: string): string[] {
  const parts = raw.split(hump).map((part) => part.toLowerCase());
  return parts.length === 1 ? parts : [raw.toLowerCase(), ...parts];
}

function characterPairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}
