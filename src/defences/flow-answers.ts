import { z } from 'zod';
import type { Json } from '../schema/json.ts';
import { type Question, shaped } from './ask-model.ts';

/** One way that information of an item would go in the task at hand, in the terms of contextual integrity. */
export interface Flow {
  /** Number of the recalled item, from 1. */
  item: number;
  sender: string;
  recipient: string;
  subject: string;
  attribute: string;
  transmission_principle: string;
}

export interface Verdict {
  appropriate: boolean;
  reason: string;
}

export type JudgedFlow = Flow & Verdict;

type Reading<T> = Pick<Question<T>, 'jsonSchema' | 'read'>;

const text = { type: 'string' } as const;
const flowShape = {
  item: z.int(),
  sender: z.string(),
  recipient: z.string(),
  subject: z.string(),
  attribute: z.string(),
  transmission_principle: z.string(),
} as const;
const flowProperties = {
  item: { type: 'integer' },
  sender: text,
  recipient: text,
  subject: text,
  attribute: text,
  transmission_principle: text,
} as const;
const verdictShape = { appropriate: z.boolean(), reason: z.string() } as const;
const verdictProperties = { reason: text, appropriate: { type: 'boolean' } } as const;

function listOf(name: string, key: string, properties: { [key: string]: Json }): Question<unknown>['jsonSchema'] {
  const item: Json = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
  const schema = {
    type: 'object',
    properties: { [key]: { type: 'array', items: item } },
    required: [key],
    additionalProperties: false,
  };
  return { name, schema };
}

/** Every item must have a flow: one that is passed over would be neither allowed nor kept back. */
function everyItem<F extends Flow>(flows: readonly F[], count: number): readonly F[] {
  const wrong = flows.find(({ item }) => item < 1 || item > count);
  if (wrong) throw new Error(`at "flows": there is no item ${wrong.item}; the items are 1 to ${count}`);
  const named = new Set(flows.map(({ item }) => item));
  for (let item = 1; item <= count; item++)
    if (!named.has(item)) throw new Error(`at "flows": item ${item} has no flow`);
  return flows;
}

/** The flows of `count` items, not judged yet. */
export function flowsOf(count: number): Reading<readonly Flow[]> {
  const schema = z.strictObject({ flows: z.array(z.strictObject(flowShape)) });
  return {
    jsonSchema: listOf('flows', 'flows', flowProperties),
    read: (value) => everyItem(shaped(schema, value).flows, count),
  };
}

/** The flows of `count` items, each judged where it stands. */
export function judgedFlowsOf(count: number): Reading<readonly JudgedFlow[]> {
  const schema = z.strictObject({ flows: z.array(z.strictObject({ ...flowShape, ...verdictShape })) });
  return {
    jsonSchema: listOf('judged_flows', 'flows', { ...flowProperties, ...verdictProperties }),
    read: (value) => everyItem(shaped(schema, value).flows, count),
  };
}

/** One verdict for each of `count` flows, in their order. */
export function verdictsOf(count: number): Reading<readonly Verdict[]> {
  const schema = z.strictObject({ verdicts: z.array(z.strictObject({ flow: z.int(), ...verdictShape })) });
  return {
    jsonSchema: listOf('verdicts', 'verdicts', { flow: { type: 'integer' }, ...verdictProperties }),
    read: (value) => {
      const { verdicts } = shaped(schema, value);
      return Array.from({ length: count }, (_, i) => {
        const own = verdicts.filter(({ flow }) => flow === i + 1);
        if (own.length !== 1) throw new Error(`at "verdicts": flow ${i + 1} has ${own.length} verdicts, not one`);
        return own[0] as Verdict;
      });
    },
  };
}
