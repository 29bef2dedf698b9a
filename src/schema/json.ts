import { z } from 'zod';

/** Any value that survives a JSON round trip. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Deeper than any honest value, and far from where a recursive walk would run out of stack. */
const MAX_DEPTH = 500;

function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const inner of value) if (!isJson(inner, depth + 1)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value)) if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

/** Checked by hand, since records are mostly JSON of plug-ins and `z.json()` takes half of the time of reading one. */
export const json: z.ZodType<Json> = z.custom<Json>((value) => isJson(value), 'expected a JSON value');
