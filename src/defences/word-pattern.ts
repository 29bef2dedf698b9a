import { linearPattern } from '../lib/linear-pattern.ts';

/** Whether a text has what a rule looks for. */
export type WordPattern = (text: string) => boolean;

const spaceless = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/**
 * A pattern of a rule: plain words, which a text has when they stand in it one after the other, whatever the case, the
 * accents and what is between them (`check in` is in `CheckInDate`); a word may end in `*` for any ending. Or a regular
 * expression between slashes, searched for in linear time (`linearPattern`).
 *
 * @throws Error that says what is wrong with the pattern.
 */
export function wordPattern(source: string): WordPattern {
  if (source.length >= 2 && source.startsWith('/') && source.endsWith('/')) {
    const pattern = linearPattern(source.slice(1, -1));
    return (text) => pattern.test(text);
  }
  // Scripts that write no spaces have no words to tell apart.
  if (spaceless.test(source)) {
    const wanted = folded(source).trim();
    return (text) => folded(text).includes(wanted);
  }
  const wanted = [...folded(source).matchAll(/([\p{L}\p{N}]+)(\*?)/gu)].map(([, word = '', star]) => ({
    word,
    open: star === '*',
  }));
  if (wanted.length === 0) throw new Error('a pattern without a letter or digit');
  return (text) => {
    const words = wordsOf(text);
    return words.some((_, at) =>
      wanted.every(({ word, open }, i) => (open ? words[at + i]?.startsWith(word) : words[at + i] === word)),
    );
  };
}

/** In lower case, without accents, and with `CheckInDate` as three words. */
function folded(text: string): string {
  return text
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();
}

const wordsOf = (text: string): string[] => folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
