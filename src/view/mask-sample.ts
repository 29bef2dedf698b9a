import type { Json } from '../schema/json.ts';
import type { ViewRow, ViewSample } from '../schema/view.ts';
import { type Mask, maskJson } from './mask.ts';

/** Parts of a sample that hold what people, models and memories said. Names, ids and words of HEAMS's own stay. */
const parts = [
  'task',
  'stored',
  'recalls',
  'prompt',
  'reasoning',
  'draft',
  'tool_calls',
  'helpfulness',
  'warnings',
] as const;

/** Keys of what was said, inside those parts; under them everything is masked. */
const said = new Set(['text', 'content', 'query', 'reasoning', 'evidence', 'raw', 'detail', 'input', 'output']);

function maskSaid(value: Json, mask: Mask): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => maskSaid(inner, mask));
  const entries = Object.entries(value as Record<string, Json>);
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, said.has(key) ? maskJson(inner, mask) : maskSaid(inner, mask)]),
  );
}

/** A text, or a structure of which only what was said is masked. */
const maskPart = (value: Json, mask: Mask): Json => {
  if (typeof value === 'string') return mask.text(value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return maskJson(value, mask);
  return maskSaid(value, mask);
};

export const maskRow = (row: ViewRow, mask: Mask): ViewRow => ({ ...row, excerpt: mask.text(row.excerpt) });

/** A sample with its secrets struck out wherever they stand word for word, and its spans on the same words as before. */
export function maskSample(sample: ViewSample, mask: Mask): ViewSample {
  const { message, error } = sample;
  const marked = mask.marked(message ?? '', sample.spans);
  const texts = parts.filter((name) => sample[name] !== undefined);
  return {
    ...sample,
    ...Object.fromEntries(texts.map((name) => [name, maskPart(sample[name] as unknown as Json, mask)])),
    facts: sample.facts.map((fact) => ({ ...fact, text: mask.text(fact.text) })),
    ...(message === undefined ? {} : { message: marked.text }),
    spans: marked.spans,
    items: sample.items.map((item) => ({
      ...item,
      value: mask.text(item.value),
      verdicts: maskSaid(item.verdicts as unknown as Json, mask) as unknown as typeof item.verdicts,
    })),
    ...(error ? { error: { ...error, message: mask.text(error.message) } } : {}),
    row: maskRow(sample.row, mask),
    siblings: sample.siblings.map((row) => maskRow(row, mask)),
  };
}
