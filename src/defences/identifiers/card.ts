import type { IdentifierFinder, Span } from './span.ts';
import { isDigit, isWordAt } from './span.ts';

const MIN = 13;
const MAX = 19;

/** The check of Luhn (ISO/IEC 7812-1, annex B): every second digit from the right doubled, their digits added up. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * Payment card numbers: 13 to 19 digits from 2 to 6 on, in groups with a space, a hyphen or a dot between them, or
 * in one, that pass the check of Luhn. One in ten numbers of that length passes by chance.
 */
export const cards: IdentifierFinder = (text) => {
  const spans: Span[] = [];
  for (let at = 0; at < text.length; at++) {
    const first = text[at] as string;
    if (first < '2' || first > '6' || isWordAt(text, at - 1)) continue;
    const end = cardEnd(text, at);
    if (end === undefined) continue;
    spans.push({ start: at, end });
    at = end;
  }
  return spans;
};

/** Where the longest card number from `start` on ends. */
function cardEnd(text: string, start: number): number | undefined {
  let digits = '';
  let longest: number | undefined;
  let at = start;
  while (digits.length < MAX && at < text.length) {
    if (isDigit(text[at])) {
      digits += text[at];
      at += 1;
      if (digits.length >= MIN && !isWordAt(text, at) && passesLuhn(digits)) longest = at;
    } else if (/[ .\-\u00a0\u2010\u2011]/.test(text[at] as string) && isDigit(text[at + 1])) at += 1;
    else break;
  }
  return longest;
}
