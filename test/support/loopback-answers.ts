import type { Json } from '../../src/schema/json.ts';
import type { ChatBody } from './loopback-dialects.ts';

/** Whether a reply to this request is to be JSON, by its schema or in words. */
export function asksForJson(body: ChatBody): boolean {
  return body.response_format !== undefined || body.messages.some(({ content }) => /\bjson\b/i.test(content));
}

/** About four characters a token, so that counts are stable and worked out by hand in tests. */
export function countTokens(body: ChatBody, text: string): { input: number; output: number } {
  const characters = body.messages.reduce((sum, { content }) => sum + content.length, 0);
  return { input: Math.ceil(characters / 4) + 1, output: Math.ceil(text.length / 4) };
}

/** JSON that fits the schema where one is asked for, a plain sentence otherwise. */
export function defaultAnswer(body: ChatBody): string {
  const schema = body.response_format?.json_schema?.schema;
  return schema === undefined ? 'This is the loopback server speaking.' : JSON.stringify(fitting(schema));
}

/** A value that fits a JSON schema: the first choice of an enum, false, the minimum, a word, an empty list. */
export function fitting(schema: Json): Json {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return null;
  const { const: fixed, enum: choices, anyOf, type, properties, items, minimum, minItems } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices)) return choices[0] ?? null;
  if (Array.isArray(anyOf)) return fitting(anyOf[0] ?? null);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === 'object' || properties) {
    return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inner]) => [name, fitting(inner as Json)]));
  }
  if (kind === 'array') return Array.from({ length: Number(minItems ?? 0) }, () => fitting(items ?? null));
  if (kind === 'boolean') return false;
  if (kind === 'integer' || kind === 'number') return Number(minimum ?? 0);
  return kind === 'string' ? 'loopback' : null;
}
