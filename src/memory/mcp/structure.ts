import type { Path, TemplateUse } from '../../contracts/plugin.ts';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { template } from '../../lib/template.ts';
import type { Json } from '../../schema/json.ts';

/**
 * The arguments of a tool as a config writes them: JSON whose strings are Liquid templates. A string that is one
 * variable alone, `{{ k }}`, is that variable's value with its type. `{ $each_fact: ... }` and `{ $each_item: ... }` are
 * lists with one element for each fact that is written, or for each item that is stored.
 */
export type Structure = { [key: string]: Json };
export type Variables = Readonly<Record<string, unknown>>;

const LISTS = {
  $each_fact: { of: 'facts', one: 'fact' },
  $each_item: { of: 'items', one: 'item' },
} as const;
type ListKey = keyof typeof LISTS;

/** The list that a mapping stands for, where it is written as one. */
function listIn(value: { [key: string]: Json }): { key: ListKey; element: Json } | undefined {
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0 || !Object.hasOwn(LISTS, key)) return undefined;
  return { key: key as ListKey, element: value[key] as Json };
}

const variableAlone = /^\{\{-?\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*-?\}\}$/;

/** A variable by its name, `fact.id`; nothing where it is not there. */
function lookUp(name: string, variables: Variables): unknown {
  let value: unknown = variables;
  for (const part of name.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

export function renderText(source: string, variables: Variables): string {
  try {
    return template(source).render(variables);
  } catch (error) {
    throw new HeamsError(
      `the template ${JSON.stringify(source)} cannot be filled: ${messageOf(error).split('\n')[0]}`,
      {
        code: 'memory_bad_mapping',
        hint: 'look at the arguments of the tools in the memory file',
      },
    );
  }
}

/** @throws HeamsError `memory_bad_mapping` where a variable is not there. */
export function render(structure: Json, variables: Variables): Json {
  if (typeof structure === 'string') {
    const alone = variableAlone.exec(structure)?.[1];
    const value = alone === undefined ? undefined : lookUp(alone, variables);
    return value === undefined ? renderText(structure, variables) : (value as Json);
  }
  if (structure === null || typeof structure !== 'object') return structure;
  if (Array.isArray(structure)) return structure.map((one) => render(one, variables));
  const list = listIn(structure);
  if (!list) return Object.fromEntries(Object.entries(structure).map(([key, one]) => [key, render(one, variables)]));
  const { of, one } = LISTS[list.key];
  return (variables[of] as unknown[]).map((value) => render(list.element, { ...variables, [one]: value }));
}

/** Every template of a structure, with the variables that it may use. */
export function templatesOf(structure: Json, path: Path, variables: readonly string[]): TemplateUse[] {
  if (typeof structure === 'string') return [{ path, source: structure, variables }];
  if (structure === null || typeof structure !== 'object') return [];
  if (Array.isArray(structure)) return structure.flatMap((one, i) => templatesOf(one, [...path, i], variables));
  const list = listIn(structure);
  if (list) return templatesOf(list.element, [...path, list.key], [...variables, LISTS[list.key].one]);
  return Object.entries(structure).flatMap(([key, one]) => templatesOf(one, [...path, key], variables));
}

/** The list keys that a structure uses, wherever. */
export function listKeysIn(structure: Json): ListKey[] {
  if (structure === null || typeof structure !== 'object') return [];
  if (Array.isArray(structure)) return structure.flatMap(listKeysIn);
  const list = listIn(structure);
  return list ? [list.key, ...listKeysIn(list.element)] : Object.values(structure).flatMap(listKeysIn);
}
