const BLOCK = '█████';

/**
 * A text with every secret struck out, whatever its case. It keeps the promise that no secret in lower case is a
 * substring of the result in lower case, which is the rule of the string judge; the empty secret, which is in every
 * text, is left aside.
 *
 * Longer secrets go first, so that of two that overlap the longer one is not left in half. Striking out can form a
 * secret anew, so it goes on until none is found. It ends, because every round removes characters other than `█`;
 * where a secret is made of nothing else, secrets are cut out without a mark.
 */
export function strikeOut(text: string, secrets: readonly string[]): string {
  const wanted = [...new Set(secrets.map((secret) => secret.toLowerCase()))]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const mark = wanted.some((secret) => /^█+$/.test(secret)) ? '' : BLOCK;
  let result = text;
  for (let before = ''; before !== result; ) {
    before = result;
    for (const secret of wanted) result = replaceFolded(result, secret, mark);
  }
  return result;
}

/** Replaces every occurrence of `wanted`, which is in lower case, in `text`, whatever the text's case. */
function replaceFolded(text: string, wanted: string, mark: string): string {
  const lower = text.toLowerCase();
  let at = lower.indexOf(wanted);
  if (at === -1) return text;
  const origins = lowerCaseOrigins(text);
  let result = '';
  let kept = 0;
  while (at !== -1) {
    const end = at + wanted.length;
    // A match may begin or end inside a character that lower-cases to several; the whole character goes.
    const [from] = origins[at] as Span;
    const [, to] = origins[end - 1] as Span;
    result += text.slice(kept, Math.max(kept, from)) + mark;
    kept = to;
    at = lower.indexOf(wanted, end);
  }
  return result + text.slice(kept);
}

/** Start and end of a character in a text. */
type Span = readonly [number, number];

/**
 * For every position of the text in lower case, the character that it came from: `İ` becomes two, so positions do not
 * agree. Which characters a letter becomes can depend on its neighbours (final sigma); how many does not.
 */
function lowerCaseOrigins(text: string): Span[] {
  const origins: Span[] = [];
  let start = 0;
  for (const character of text) {
    const span: Span = [start, start + character.length];
    for (let i = 0; i < character.toLowerCase().length; i++) origins.push(span);
    start = span[1];
  }
  return origins;
}
