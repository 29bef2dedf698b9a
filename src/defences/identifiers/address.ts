import { isIP, isIPv6 } from 'node:net';
import { type IdentifierFinder, isWordAt, type Span, spansOf } from './span.ts';

const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;
const local = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]/u;
const domain = /[\p{L}\p{N}.-]/u;

/** E-mail addresses: what stands around an `@` and could be one; the domain has a dot and ends in letters. */
export const emails: IdentifierFinder = (text) => {
  const spans: Span[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    const from = Math.max(spans.at(-1)?.end ?? 0, at - MAX_LOCAL);
    while (start > from && local.test(text[start - 1] as string)) start -= 1;
    while (start < at && /[.'`*(]/.test(text[start] as string)) start += 1;
    let end = at + 1;
    while (end < text.length && end - at <= MAX_DOMAIN && domain.test(text[end] as string)) end += 1;
    while (end > at + 1 && /[.-]/.test(text[end - 1] as string)) end -= 1;
    const host = text.slice(at + 1, end);
    const top = host.slice(host.lastIndexOf('.') + 1);
    const named = host.includes('.') && !host.includes('..') && /^\p{L}[\p{L}\p{N}-]*$/u.test(top) && top.length > 1;
    if (start < at && named) spans.push({ start, end });
  }
  return spans;
};

const trimmed = (text: string): string => text.replace(/[.:]$/, '');

/** IPv4 and IPv6 addresses in their usual forms. */
export const ips: IdentifierFinder = (text) => {
  const four = spansOf(text, /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)/g, (match) => isIP(match) === 4);
  const six: Span[] = [];
  for (const match of text.matchAll(/[0-9A-Fa-f:.]{3,}/g)) {
    const address = trimmed(match[0].slice(0, 64));
    const end = match.index + address.length;
    const alone = match[0].length <= 64 && !isWordAt(text, match.index - 1) && !isWordAt(text, end);
    if (alone && /[0-9A-Fa-f].*:/.test(address.slice(0, 46)) && isIPv6(address)) six.push({ start: match.index, end });
  }
  return [...four, ...six].sort((a, b) => a.start - b.start);
};
