/** A stretch of a text, from `start` up to but not including `end`. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Finds identifiers of one kind, from left to right and none in another. Linear in the length of the text: a finder
 * looks at each place for a bounded number of characters.
 */
export type IdentifierFinder = (text: string) => Span[];

/** Letters and digits of any script, and what joins them: an identifier ends before it and starts after it. */
const wordCharacter = /[\p{L}\p{N}_]/u;
export const isWordAt = (text: string, at: number): boolean =>
  at >= 0 && at < text.length && wordCharacter.test(text[at] as string);

export const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9';

/** What every match of a global pattern spans, where `accepts` takes it. The pattern's repetitions must be bounded. */
export function spansOf(text: string, pattern: RegExp, accepts: (match: string, start: number) => boolean): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    if (accepts(match[0], match.index)) spans.push({ start: match.index, end: match.index + match[0].length });
  }
  return spans;
}
