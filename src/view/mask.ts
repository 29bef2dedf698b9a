import type { SecretText } from '../contracts/viewer.ts';
import type { Json } from '../schema/json.ts';
import type { Span } from '../schema/view.ts';

export interface Marked {
  text: string;
  spans: Span[];
}

/** Strikes texts out of texts; `marked` keeps spans on the words that they marked. */
export interface Mask {
  text(text: string): string;
  marked(text: string, spans: readonly Span[]): Marked;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Replaces every secret by its code, whatever its case, the longest first, so that no rest of a longer one stays. Texts
 * that are blank are passed over: striking them out would strike out the text around them.
 */
export function maskOf(secrets: readonly SecretText[]): Mask {
  const codes = new Map<string, string>();
  for (const { text, code } of secrets) {
    if (text.trim() !== '' && !codes.has(text.toLowerCase())) codes.set(text.toLowerCase(), code);
  }
  if (codes.size === 0) return { text: (text) => text, marked: (text, spans) => ({ text, spans: [...spans] }) };
  const longestFirst = [...codes.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escaped).join('|'), 'giu');
  const codeOf = (match: string): string => codes.get(match.toLowerCase()) ?? '[secret]';
  return {
    text: (text) => text.replace(pattern, codeOf),
    marked: (text, spans) => {
      const cuts = [...text.matchAll(pattern)].map(({ index, 0: match }) => ({
        start: index,
        end: index + match.length,
        code: codeOf(match),
      }));
      const moved = spans.map((span) => ({
        ...span,
        start: shifted(span.start, cuts),
        end: shifted(span.end, cuts, true),
      }));
      return { text: text.replace(pattern, codeOf), spans: moved };
    },
  };
}

interface Cut {
  start: number;
  end: number;
  code: string;
}

/** Where an offset is after the cuts; one inside a cut goes to the beginning of its code, or to its end. */
function shifted(offset: number, cuts: readonly Cut[], toEnd = false): number {
  let moved = offset;
  for (const { start, end, code } of cuts) {
    if (end <= offset) moved += code.length - (end - start);
    else if (start < offset) return moved - (offset - start) + (toEnd ? code.length : 0);
    else break;
  }
  return moved;
}

/** Every text of a value masked; names of object keys stay. */
export function maskJson<T extends Json>(value: T, mask: Mask): T {
  if (typeof value === 'string') return mask.text(value) as T;
  if (Array.isArray(value)) return value.map((inner) => maskJson(inner as Json, mask)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskJson(inner as Json, mask)])) as T;
}
