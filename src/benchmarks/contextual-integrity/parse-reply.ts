import { helpfulnessLabels } from '../../schema/ci-grade.ts';

/** What a judge said about one thing. */
export interface Answer<V> {
  value: V;
  reasoning?: string;
  evidence?: string;
}

/** An answer, or why there is none in the reply. */
export type Parsed<V> = { ok: true; answer: Answer<V> } | { ok: false; detail: string };

/** Where an answer's value stands in its object, and what counts as one. */
export interface AnswerShape<V> {
  key: string;
  /** The value, or nothing when it is none of the accepted ones. */
  read(raw: unknown): V | undefined;
}

type JsonObject = Record<string, unknown>;

/**
 * The answer in a reply: the last JSON object that has the key, whatever stands around it. Nothing is ever guessed from
 * prose. An unusable value, two objects that contradict each other, or broken JSON about the key make the reply
 * malformed.
 */
export function parseAnswer<V>(text: string, shape: AnswerShape<V>): Parsed<V> {
  return settle(jsonObjects(text, shape.key), shape);
}

/**
 * The numbered answers in a reply that judges several items at once: `{"verdicts": [{"number": 1, ...}, ...]}`, or the
 * same objects without the frame. Each number is settled by itself; one that does not occur has no answer.
 */
export function parseAnswers<V>(
  text: string,
  shape: AnswerShape<V>,
  numbers: readonly number[],
): Map<number, Parsed<V>> {
  const objects = jsonObjects(text, shape.key).flatMap((object) =>
    Array.isArray(object.verdicts) ? object.verdicts.filter(isObject) : [object],
  );
  return new Map(
    numbers.map((number) => [
      number,
      settle(
        objects.filter((object) => numberOf(object.number) === number),
        shape,
      ),
    ]),
  );
}

/** A number, or one in quotes. A list or an object is none: `[1]` would count as 1, and some objects cannot be converted. */
function numberOf(raw: unknown): number | undefined {
  return typeof raw === 'number' || typeof raw === 'string' ? Number(raw) : undefined;
}

function settle<V>(all: readonly JsonObject[], shape: AnswerShape<V>): Parsed<V> {
  const objects = all.filter((object) => Object.hasOwn(object, shape.key));
  const last = objects.at(-1);
  if (!last) return { ok: false, detail: `no sound JSON object with "${shape.key}" in the reply` };
  const values = objects.map((object) => shape.read(object[shape.key]));
  const value = values.at(-1);
  if (value === undefined || values.includes(undefined)) {
    return { ok: false, detail: `"${shape.key}" holds none of the accepted values` };
  }
  if (values.some((other) => other !== value)) {
    return { ok: false, detail: `the reply says two different things about "${shape.key}"` };
  }
  const answer: Answer<V> = { value };
  if (typeof last.reasoning === 'string') answer.reasoning = last.reasoning;
  if (typeof last.evidence === 'string' && last.evidence !== '') answer.evidence = last.evidence;
  return { ok: true, answer };
}

const booleans: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

/** A yes or no under `key`: a JSON boolean, or one of the words true, false, yes, no in any case. */
export function booleanAt(key: string): AnswerShape<boolean> {
  return {
    key,
    read: (raw) => {
      if (typeof raw === 'boolean') return raw;
      const word = typeof raw === 'string' ? raw.trim().toLowerCase() : '';
      return Object.hasOwn(booleans, word) ? booleans[word] : undefined;
    },
  };
}

export type Score = 0 | 1 | 2 | 3;

/** A helpfulness rating under `key`: Poor, Unsatisfactory, Good or Excellent in any case, or its number, 0 to 3. */
export function ratingAt(key: string): AnswerShape<Score> {
  return {
    key,
    read: (raw) => {
      const word = typeof raw === 'string' || typeof raw === 'number' ? String(raw).trim().toLowerCase() : '';
      const index = helpfulnessLabels.findIndex((label, i) => word === label.toLowerCase() || word === String(i));
      return index < 0 ? undefined : (index as Score);
    },
  };
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/**
 * Thoughts that some local models put before their answer. They may hold drafts of it, which do not count; thoughts that
 * never end have no answer after them.
 */
const thoughts = /^\s*<think>[\s\S]*?(?:<\/think>|$)/i;

/**
 * The outermost JSON objects of a text, in order; none when its braces do not pair, or when a part that does not parse
 * speaks of `key`. A judge that quotes the message with bad escaping breaks its own JSON: then a verdict that stands
 * in the quotation must not be taken for the judge's, and what is left of the judge's must not be pieced together.
 */
function jsonObjects(text: string, key: string): JsonObject[] {
  const source = text.replace(thoughts, '');
  const found: JsonObject[] = [];
  let at = 0;
  for (let start = source.indexOf('{'); start >= 0; start = source.indexOf('{', at)) {
    const region = balanced(source, start);
    if (!region || source.slice(at, start).includes('}')) return [];
    const value = parsedOrNothing(region.json);
    if (isObject(value)) found.push(value);
    else if (region.json.includes(`"${key}"`)) return [];
    at = region.end;
  }
  return source.slice(at).includes('}') ? [] : found;
}

/**
 * The text from the brace at `start` to the one that closes it. Raw control characters inside its strings, which
 * models often forget to escape, are escaped.
 */
function balanced(source: string, start: number): { json: string; end: number } | undefined {
  let json = '';
  let depth = 0;
  let inString = false;
  for (let i = start; i < source.length; i++) {
    const char = source[i] as string;
    if (inString && char < ' ') {
      json += JSON.stringify(char).slice(1, -1);
      continue;
    }
    json += char;
    if (inString && char === '\\') {
      i += 1;
      json += source[i] ?? '';
    } else if (char === '"') {
      inString = !inString;
    } else if (!inString && char === '{') {
      depth += 1;
    } else if (!inString && char === '}') {
      depth -= 1;
      if (depth === 0) return { json, end: i + 1 };
    }
  }
  return undefined;
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
