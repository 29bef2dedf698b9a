import { z } from 'zod';
import { messageOf } from '../lib/errors.ts';
import type { RecallItem } from '../schema/record.ts';
import { type WordPattern, wordPattern } from './word-pattern.ts';

const pattern = z
  .string()
  .min(1)
  .superRefine((source, context) => {
    try {
      wordPattern(source);
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message: `plain words, or a regular expression between slashes: ${messageOf(error)}`,
      });
    }
  });
/** Any of these. */
const patterns = z.union([pattern, z.array(pattern).min(1)], { error: 'a pattern, or a list of patterns' });

const action = z.enum(['allow', 'deny']);

const ruleSchema = z
  .strictObject({
    /** What the rule is for, for people. */
    name: z.string().optional(),
    /** By template variable of the benchmark: `recipient`, `user_intention`, `domain`, ... All must hold. */
    when: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'the name of a template variable'), patterns).optional(),
    /** What of an item. All that is given must hold. */
    items: z
      .strictObject({ key: patterns.optional(), text: patterns.optional() })
      .refine(({ key, text }) => key !== undefined || text !== undefined, 'key, text or both')
      .optional(),
    action,
  })
  .refine(({ when, items }) => items !== undefined || Object.keys(when ?? {}).length > 0, {
    error: 'when, items or both; what no rule names is for "default"',
  });

export const gateShape = {
  /** What becomes of items that no rule names. */
  default: action,
  /** The first rule that holds for an item decides. */
  rules: z.array(ruleSchema).min(1),
} as const;
const gateSchema = z.strictObject(gateShape);
export type GateOptions = z.infer<typeof gateSchema>;
type Rule = GateOptions['rules'][number];

/** A part of an item that stands for one fact: what it may be called, and its text. */
interface Unit {
  names: readonly string[];
  text: string;
}

type Holds = (unit: Unit) => boolean;

interface CompiledRule {
  when: [variable: string, pattern: WordPattern][];
  items: Holds;
  allows: boolean;
}

/** Decides for the variables of one task which items may pass. */
export type Gate = (variables: Readonly<Record<string, string>>) => (item: RecallItem) => boolean;

/** Compiles rules once; what they decide rests on the item and the variables alone. */
export function compileGate({ default: otherwise, rules }: GateOptions): Gate {
  const compiled = rules.map(compileRule);
  return (variables) => {
    const inForce = compiled.filter(({ when }) => when.every(([variable, holds]) => holds(variables[variable] ?? '')));
    const allows = (unit: Unit) => inForce.find(({ items }) => items(unit))?.allows ?? otherwise === 'allow';
    // An item that is made of several facts passes only where each of them may.
    return (item) => unitsOf(item).every(allows);
  };
}

function compileRule({ when = {}, items, action }: Rule): CompiledRule {
  const key = items?.key === undefined ? undefined : anyOf(items.key);
  const text = items?.text === undefined ? undefined : anyOf(items.text);
  return {
    when: Object.entries(when).map(([variable, source]) => [variable, anyOf(source)]),
    items: (unit) => (key === undefined || unit.names.some(key)) && (text === undefined || text(unit.text)),
    allows: action === 'allow',
  };
}

function anyOf(source: string | readonly string[]): WordPattern {
  const all = [source].flat().map((one) => wordPattern(one));
  return (text) => all.some((holds) => holds(text));
}

/** What stands before the first colon of a line: the key of a `key: value`. */
const keyOf = (line: string): string[] => {
  const colon = line.indexOf(':');
  return colon > 0 ? [line.slice(0, colon).trim()] : [];
};

/**
 * The facts that an item is made of. Most items are one fact, told by its id and its key. An item of several facts is as
 * many units over one text. Of an item that names no fact each line may be one, so that a note of a memory that rewrites
 * what it is told, or a whole page that a tool shows, passes only where every line of it may.
 */
function unitsOf({ text, fact_ids: ids }: RecallItem): Unit[] {
  const [only, ...more] = ids;
  if (only !== undefined && more.length === 0) return [{ names: [only, ...keyOf(firstLine(text))], text }];
  if (only !== undefined) return ids.map((id) => ({ names: [id], text }));
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  return lines.length === 0 ? [{ names: [], text }] : lines.map((line) => ({ names: keyOf(line), text: line }));
}

const firstLine = (text: string): string => /^[^\r\n]*/.exec(text)?.[0] ?? '';
