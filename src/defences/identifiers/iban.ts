import { type IdentifierFinder, isWordAt, type Span } from './span.ts';

/** Length of an IBAN by country (ISO 13616, the registry of SWIFT). */
const lengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 ' +
    'FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 ' +
    'LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 ' +
    'SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The check of ISO 7064 MOD 97-10: the first four characters to the end, letters as 10 to 35, and the rest of 97 is 1. */
export function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** IBANs in one or in groups, upper or lower case, with the length that their country gives them and a sound check. */
export const ibans: IdentifierFinder = (text) => {
  const spans: Span[] = [];
  for (let at = 0; at < text.length; at++) {
    if (isWordAt(text, at - 1)) continue;
    const country = text.slice(at, at + 2).toUpperCase();
    const length = Object.hasOwn(lengths, country) ? lengths[country] : undefined;
    const end = length === undefined ? undefined : ibanEnd(text, at, length);
    if (end === undefined) continue;
    spans.push({ start: at, end });
    at = end;
  }
  return spans;
};

function ibanEnd(text: string, start: number, length: number): number | undefined {
  let iban = '';
  let at = start;
  while (iban.length < length && at < text.length) {
    const character = text[at] as string;
    if (/[A-Za-z0-9]/.test(character)) iban += character.toUpperCase();
    else if (!/[ \-\u00a0]/.test(character) || /[ \-\u00a0]/.test(text[at - 1] as string)) return undefined;
    at += 1;
  }
  if (iban.length < length || isWordAt(text, at) || !/^[A-Z]{2}\d{2}/.test(iban)) return undefined;
  return passesMod97(iban) ? at : undefined;
}
