import type { z } from 'zod';
import { describeValue, isObject, rowLabel } from '../../datasets/row.ts';
import { HeamsError, HeamsErrors, type Where } from '../../lib/errors.ts';
import { hashOf } from '../../lib/hash.ts';
import { leafText, leaves } from '../../lib/leaves.ts';
import { nearest } from '../../lib/nearest.ts';
import { seededRandom, shuffled } from '../../lib/random.ts';
import { type CiRow, ciRowSchema } from '../../schema/contextual-integrity.ts';
import type { Json } from '../../schema/json.ts';
import type { Fact } from '../../schema/record.ts';
import { type CiItem, type CiSample, seedVariables } from './sample.ts';

/** Columns of a CI dataset. The published file has no ids; a user's own may. */
export const ciColumns = { required: ['seed', 'dataset_item'], optional: ['id'] } as const;

export type CheckedRow = { status: 'ok'; row: CiRow; id: string } | { status: 'bad'; errors: HeamsError[] };

/**
 * Checks the row at `index` (from 0) and finds everything that is wrong with it: `dataset_bad_row` for what does not
 * fit the schema, `dataset_no_allowed_values`, `dataset_blank_value`. A row without disallowed values is fine: it
 * measures coverage alone.
 */
export function checkRow(value: unknown, index: number, where: Where): CheckedRow {
  const parsed = ciRowSchema.safeParse(value);
  if (!parsed.success) {
    return { status: 'bad', errors: parsed.error.issues.map((issue) => schemaError(issue, value, index, where)) };
  }
  const { allowed, disallowed } = parsed.data.dataset_item.annotation;
  const errors = [
    ...lostKeys(value, index, where),
    ...blankValues('allowed', allowed, index, where),
    ...blankValues('disallowed', disallowed, index, where),
  ];
  if (Object.keys(allowed).length === 0) {
    errors.push(
      new HeamsError(`${rowLabel(index)} has no allowed values`, {
        code: 'dataset_no_allowed_values',
        where,
        expected: 'at least one value in dataset_item.annotation.allowed',
        found: 'none',
        hint: 'annotate what the message must communicate, or take the row out',
      }),
    );
  }
  if (errors.length > 0) return { status: 'bad', errors };
  return { status: 'ok', row: parsed.data, id: parsed.data.id ?? `ci-${String(index).padStart(4, '0')}` };
}

/** The sample of the row at `index` (from 0). Throws the errors of `checkRow`, all in one. */
export function toSample(value: unknown, index: number, options: { seed: number; where: Where }): CiSample {
  const checked = checkRow(value, index, options.where);
  if (checked.status === 'bad') throw asOne(checked.errors);
  return sampleOf(checked.row, checked.id, options.seed);
}

/**
 * Builds the sample of a checked row. What memory is primed with is the information pool and nothing else: the
 * published data have one row (659) with `past_emails` beside the pool, which carry no annotation, so that what they
 * give away could not be judged.
 */
export function sampleOf(row: CiRow, id: string, seed: number): CiSample {
  const { user_task: task, information, annotation } = row.dataset_item;
  const inOrder = Object.entries(information).map(
    ([key, value]): Fact => ({ id: key, key, text: `${key}: ${leafText(value)}` }),
  );
  // In 669 of the 729 published rows all allowed keys come first, so the order itself would give the answer away.
  const facts = shuffled(inOrder, seededRandom(seed, id));
  const data = {
    seed: Object.fromEntries(seedVariables.map((name) => [name, row.seed[name]])) as CiSample['data']['seed'],
    secrets: itemsOf(annotation.disallowed, information),
    fields: itemsOf(annotation.allowed, information),
  };
  return {
    id,
    cluster: hashOf(row.seed).slice(0, 16),
    hash: hashOfSample({ task, facts, data }),
    task,
    facts,
    tags: {
      domain: row.seed.domain,
      transmission_principle: row.seed.transmission_principle,
      scenario: row.seed.scenario,
    },
    toJudge: { secrets: data.secrets.length, fields: data.fields.length },
    data,
  };
}

/** Of the sample, not of the row: the order of facts and of leaves can change an outcome, extra columns cannot. */
export const hashOfSample = ({ task, facts, data }: Pick<CiSample, 'task' | 'facts' | 'data'>): string =>
  hashOf({ task, facts, data }).slice(0, 32);

/** The error for an id that an earlier row has, naming both rows; otherwise notes the id in `seen`. */
export function duplicateId(
  id: string,
  row: number,
  options: { seen: Map<string, number>; where: Where },
): HeamsError | undefined {
  const first = options.seen.get(id);
  if (first === undefined) {
    options.seen.set(id, row);
    return undefined;
  }
  return new HeamsError(`${rowLabel(row)} has the id of row ${first}`, {
    code: 'dataset_duplicate_id',
    where: options.where,
    expected: 'an id of its own for every row',
    found: `"${id}" in rows ${first} and ${row}`,
    hint: 'a row without an id gets one from its place: ci-0000, ci-0001, ...',
  });
}

function asOne(errors: readonly HeamsError[]): HeamsError {
  const [first] = errors;
  return first && errors.length === 1 ? first : new HeamsErrors(errors);
}

function itemsOf(annotated: Readonly<Record<string, Json>>, information: Readonly<Record<string, Json>>): CiItem[] {
  return Object.entries(annotated).map(([key, value]) => ({
    key,
    value,
    parts: leaves(value),
    fullValue: leafText(Object.hasOwn(information, key) ? (information[key] as Json) : value),
  }));
}

/** Checked data cannot hold a key `__proto__`: the fact or the secret of that name would be missing without a word. */
function lostKeys(value: unknown, index: number, where: Where): HeamsError[] {
  return ['information', 'annotation.allowed', 'annotation.disallowed']
    .map((path) => `dataset_item.${path}`)
    .filter((path) => {
      const found = path.split('.').reduce<unknown>(inside, value);
      return isObject(found) && Object.hasOwn(found, '__proto__');
    })
    .map(
      (path) =>
        new HeamsError(`${rowLabel(index)}: ${path} has a key that cannot be kept`, {
          code: 'dataset_bad_row',
          where,
          expected: 'any other name',
          found: '__proto__',
        }),
    );
}

/** Blank text is in every message, and a value without any text is in none: neither can be judged. */
function blankValues(
  side: string,
  annotated: Readonly<Record<string, Json>>,
  index: number,
  where: Where,
): HeamsError[] {
  const isBlank = (value: Json) => leaves(value).length === 0 || hasBlankLeaf(value);
  return Object.entries(annotated)
    .filter(([, value]) => isBlank(value))
    .map(
      ([key, value]) =>
        new HeamsError(`${rowLabel(index)}: blank value at dataset_item.annotation.${side}.${key}`, {
          code: 'dataset_blank_value',
          where,
          expected: 'text in every part of the value',
          found: JSON.stringify(value),
        }),
    );
}

function hasBlankLeaf(value: Json): boolean {
  if (value === null) return true;
  if (typeof value === 'object') return Object.values(value).some(hasBlankLeaf);
  return String(value).trim() === '';
}

function schemaError(issue: z.core.$ZodIssue, value: unknown, index: number, where: Where): HeamsError {
  const path = issue.path.map(String);
  const found = path.reduce<unknown>(inside, value);
  const name = path.at(-1);
  const siblings = path.slice(0, -1).reduce<unknown>(inside, value);
  const near = found === undefined && name && isObject(siblings) ? nearest(name, Object.keys(siblings)) : undefined;
  return new HeamsError(
    `${rowLabel(index)}: ${path.join('.') || 'the row'} is ${found === undefined ? 'missing' : 'wrong'}`,
    {
      code: 'dataset_bad_row',
      where,
      expected: expectedOf(issue),
      found: describeValue(found),
      ...(near === undefined ? {} : { hint: `did you mean "${near}"?` }),
    },
  );
}

function inside(value: unknown, key: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined;
}

function expectedOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_small') return 'text that is not empty';
  if (issue.code !== 'invalid_type') return issue.message;
  return issue.expected === 'string' ? 'text' : issue.expected === 'record' ? 'an object' : `an ${issue.expected}`;
}
