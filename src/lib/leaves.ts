import type { Json } from '../schema/json.ts';

/** The leaves of a value in order, each as text. A plain value is its own only leaf; object keys are not leaves. */
export function leaves(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (value !== null && typeof value === 'object') return Object.values(value).flatMap(leaves);
  return [String(value)];
}

/** A value as text: its leaves, one a line. */
export function leafText(value: Json): string {
  return leaves(value).join('\n');
}
