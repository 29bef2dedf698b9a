import { emails, ips } from './address.ts';
import { cards } from './card.ts';
import { ibans } from './iban.ts';
import { passports, phones, ssns } from './number.ts';
import type { IdentifierFinder, Span } from './span.ts';

/** Kinds of identifiers, those first that are told more surely: where two overlap, the first stands. */
const finders = {
  email: emails,
  iban: ibans,
  credit_card: cards,
  ip: ips,
  ssn: ssns,
  passport: passports,
  phone: phones,
} satisfies Record<string, IdentifierFinder>;

export type IdentifierKind = keyof typeof finders;
export const identifierKinds = Object.keys(finders) as [IdentifierKind, ...IdentifierKind[]];

/** What stands in place of an identifier. No finder finds anything in them. */
const replacements: Readonly<Record<IdentifierKind, string>> = {
  email: '[e-mail address]',
  iban: '[bank account]',
  credit_card: '[card number]',
  ip: '[IP address]',
  ssn: '[social security number]',
  passport: '[travel document number]',
  phone: '[phone number]',
};

/**
 * The text with every identifier of the kinds replaced by a word for what it was: the same word for every identifier of a
 * kind. One kind after the other, so that each sees what those before it have left.
 */
export function redactIdentifiers(text: string, kinds: readonly IdentifierKind[]): string {
  return identifierKinds
    .filter((kind) => kinds.includes(kind))
    .reduce((left, kind) => replaced(left, finders[kind](left), replacements[kind]), text);
}

function replaced(text: string, spans: readonly Span[], replacement: string): string {
  let written = '';
  let at = 0;
  for (const { start, end } of spans) {
    written += text.slice(at, start) + replacement;
    at = end;
  }
  return written + text.slice(at);
}
