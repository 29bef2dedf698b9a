import type { ChatMessage, ChatRequest } from '../../contracts/model.ts';
import { template } from '../../lib/template.ts';
import { helpfulnessLabels } from '../../schema/ci-grade.ts';
import type { CiLlmEvaluator } from '../../schema/contextual-integrity.ts';
import type { Json } from '../../schema/json.ts';
import type { Inquiry } from './judge-inquiry.ts';
import { type AnswerShape, booleanAt, parseAnswer, parseAnswers, ratingAt, type Score } from './parse-reply.ts';
import { quoted } from './quote.ts';
import { type CiItem, type CiSample, seedVariables } from './sample.ts';

/** What a prompt about one sample may use. No label and no reasoning of the seed is among it. */
export const sampleVariables: readonly string[] = ['user_task', ...seedVariables];

/** Values of `sampleVariables`. */
export function variablesOf(sample: CiSample): Record<string, string> {
  return { user_task: sample.task, ...sample.data.seed };
}

/** Everything an LLM judge is asked about one message. The number of an inquiry is an item's place, from 1. */
export interface Questions {
  secrets: Inquiry<boolean>[];
  fields: Inquiry<boolean>[];
  helpfulness: Inquiry<Score>;
}

/** Output tokens of a first attempt where the config sets none: room for a paragraph of reasoning and a quotation. */
const roomForOne = 512;
const roomForEach = 256;

type Schema = { [key: string]: Json };

/** A kind of question: how its answer is written, and how it is read. */
interface Kind<V> {
  name: string;
  answer: Schema;
  shape: AnswerShape<V>;
}

const text: Schema = { type: 'string' };
const leakage: Kind<boolean> = {
  name: 'leakage',
  answer: { reasoning: text, evidence: text, leaked: { type: 'boolean' } },
  shape: booleanAt('leaked'),
};
const coverage: Kind<boolean> = {
  name: 'coverage',
  answer: { reasoning: text, evidence: text, communicated: { type: 'boolean' } },
  shape: booleanAt('communicated'),
};
const helpfulness: Kind<Score> = {
  name: 'helpfulness',
  answer: { reasoning: text, rating: { type: 'string', enum: [...helpfulnessLabels] } },
  shape: ratingAt('rating'),
};

/**
 * The questions about one message, from the prompts of the config: one for each secret and field, or with
 * `grading: per_sample` one for all secrets and one for all fields; and one for helpfulness.
 */
export function questions(evaluator: CiLlmEvaluator, sample: CiSample, message: string): Questions {
  const variables = { ...variablesOf(sample), message: quoted(message) };
  const room = evaluator.max_tokens ?? roomForOne;
  const aboutItems = (kind: Kind<boolean>, items: readonly CiItem[], { system, user, batch }: ItemPrompts) => {
    if (evaluator.grading === 'per_value') {
      return items.map((item, index) => {
        const { number, ...shown } = shownItem(item, index);
        return aboutOne(kind, number, () => turns(system, user, { ...variables, ...shown }), room);
      });
    }
    // The schema lets no config through that lacks it.
    if (batch === undefined) throw new Error(`grading: per_sample needs ${kind.name}_batch_user_prompt`);
    const ask = (shown: readonly Shown[]) => turns(system, batch, { ...variables, items: shown });
    const roomForAll = evaluator.max_tokens ?? roomForEach * (items.length + 1);
    return items.length === 0 ? [] : [aboutSeveral(kind, items, ask, roomForAll)];
  };
  const { helpfulness_system_prompt, helpfulness_user_prompt } = evaluator;
  return {
    secrets: aboutItems(leakage, sample.data.secrets, promptsOf(evaluator, 'leakage')),
    fields: aboutItems(coverage, sample.data.fields, promptsOf(evaluator, 'coverage')),
    helpfulness: aboutOne(
      helpfulness,
      1,
      () => turns(helpfulness_system_prompt, helpfulness_user_prompt, variables),
      room,
    ),
  };
}

interface ItemPrompts {
  system: string;
  user: string;
  batch: string | undefined;
}

function promptsOf(evaluator: CiLlmEvaluator, about: 'leakage' | 'coverage'): ItemPrompts {
  return {
    system: evaluator[`${about}_system_prompt`],
    user: evaluator[`${about}_user_prompt`],
    batch: evaluator[`${about}_batch_user_prompt`],
  };
}

function turns(system: string, user: string, variables: Readonly<Record<string, unknown>>): ChatMessage[] {
  return [
    { role: 'system', content: template(system).render(variables) },
    { role: 'user', content: template(user).render(variables) },
  ];
}

function aboutOne<V>(kind: Kind<V>, number: number, ask: () => ChatMessage[], room: number): Inquiry<V> {
  return {
    numbers: [number],
    room,
    request: () => ({ messages: ask(), jsonSchema: jsonSchema(`${kind.name}_verdict`, kind.answer) }),
    parse: (reply) => new Map([[number, parseAnswer(reply, kind.shape)]]),
  };
}

function aboutSeveral<V>(
  kind: Kind<V>,
  items: readonly CiItem[],
  ask: (shown: readonly Shown[]) => ChatMessage[],
  room: number,
): Inquiry<V> {
  const shown = items.map(shownItem);
  const verdicts = { type: 'array', items: strictObject({ number: { type: 'integer' }, ...kind.answer }) };
  return {
    numbers: shown.map((item) => item.number),
    room,
    request: (open) => ({
      messages: ask(shown.filter((item) => open.includes(item.number))),
      jsonSchema: jsonSchema(`${kind.name}_verdicts`, { verdicts }),
    }),
    parse: (reply, open) => parseAnswers(reply, kind.shape, open),
  };
}

function strictObject(properties: Schema): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function jsonSchema(name: string, properties: Schema): NonNullable<ChatRequest['jsonSchema']> {
  return { name, schema: strictObject(properties) };
}

/** An item as prompts see it. */
interface Shown {
  number: number;
  attribute: string;
  value: string;
  full_value: string;
}

function shownItem(item: CiItem, index: number): Shown {
  return {
    number: index + 1,
    attribute: item.key,
    value: labelled(item.value).join('\n'),
    full_value: item.fullValue,
  };
}

/** The leaves of a value, one a line, each with the object keys that lead to it in front. */
function labelled(value: Json, label = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((inner) => labelled(inner, label));
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).flatMap(([key, inner]) => labelled(inner, label === '' ? key : `${label} / ${key}`));
  }
  return [label === '' ? String(value) : `${label}: ${value}`];
}
