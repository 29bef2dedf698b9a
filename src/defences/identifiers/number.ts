import { type IdentifierFinder, isWordAt, type Span, spansOf } from './span.ts';

/** Social security numbers of the United States, written with separators, in the ranges that are given out. */
export const ssns: IdentifierFinder = (text) =>
  spansOf(text, /(?<![\w-])\d{3}([- ])\d{2}\1\d{4}(?![\w]|-\d)/g, (match) => {
    const [area = '', group, serial] = match.split(/[- ]/);
    return area !== '000' && area !== '666' && area < '900' && group !== '00' && serial !== '0000';
  });

/** Shapes of telephone numbers. No part of them can be had in two ways, so none is tried twice. */
const shapes = [
  // International: +49 30 901820, 0044 (0)20 7946 0018.
  /(?<![\w+])(?:\+|00)[1-9](?:[ .\-/()\u00a0]{0,2}\d){6,14}(?!\d)/g,
  // North America: (555) 010-4477, 1-555-010-4477, 555.010.4477.
  /(?<![\w+.-])(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w]|[-.]\d)/g,
  /(?<![\w+./-])\d{3}-\d{4}(?![\w]|[-./]\d)/g,
  // National with a trunk zero: 030 901820, 020 7946 0018, 06.12.34.56.78.
  /(?<![\w+./-])\(?0\d{1,4}\)?(?:[ .\-/\u00a0]\d{2,8}){1,5}(?![\w]|[-./]\d)/g,
];

const dates = /^(?:\d{1,2}[ ./-]\d{1,2}[ ./-](?:\d{2}|\d{4})|\d{4}[ ./-]\d{1,2}[ ./-]\d{1,2})$/;
const digitsOf = (text: string): number => text.replace(/\D/g, '').length;

/** Telephone numbers that say so by their shape: a plus or two zeros, brackets, or groups as numbers are written. */
export const phones: IdentifierFinder = (text) => {
  const all = shapes.flatMap((shape) =>
    spansOf(text, shape, (match) => digitsOf(match) >= 7 && digitsOf(match) <= 15 && !dates.test(match)),
  );
  return apart(all);
};

/** Of spans that overlap, the longest first. */
function apart(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Span[] = [];
  for (const span of sorted) if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span);
  return kept;
}

const NEAR = 40;

/** Passport numbers: letters and digits as passports have them, within 40 characters after the word. */
export const passports: IdentifierFinder = (text) => {
  const spans: Span[] = [];
  for (const { index, 0: word } of text.matchAll(/passe?port/gi)) {
    const from = index + word.length;
    const found =
      /(?<![\p{L}\p{N}])(?:[A-Za-z]{1,2}\d{6,8}|\d{8,9}|\d{2}[A-Za-z]{2}\d{5}|[A-Za-z]\d[A-Za-z0-9]{7})(?![\p{L}\p{N}])/u.exec(
        text.slice(from, from + NEAR + 10),
      );
    if (!found || isWordAt(text, from + found.index + found[0].length)) continue;
    const start = from + found.index;
    if (start >= (spans.at(-1)?.end ?? 0)) spans.push({ start, end: start + found[0].length });
  }
  return spans;
};
