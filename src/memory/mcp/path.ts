import type { Json } from '../../schema/json.ts';

/**
 * Where something is in a reply. `entities[].observations[0]`: keys are parted by dots, `[0]` is an element, `[]` stands
 * for every element of a list, `["a.b"]` is a key of any characters. The empty path is the whole.
 */
export interface ReplyPath {
  readonly text: string;
  readonly steps: readonly Step[];
}
type Step = { key: string } | { index: number } | { each: true };

const step = /(?:^|(?<!^)\.)([A-Za-z_$][\w$-]*)|\[(\d+)\]|(\[\])|\["((?:[^"\\]|\\["\\])*)"\]/y;

/** The path that a text writes; nothing where it writes none. */
export function parsePath(text: string): ReplyPath | undefined {
  const steps: Step[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const [, key, index, each, quoted] = step.exec(text) ?? [];
    if (key !== undefined) steps.push({ key });
    else if (index !== undefined) steps.push({ index: Number(index) });
    else if (each !== undefined) steps.push({ each: true });
    else if (quoted !== undefined) steps.push({ key: quoted.replace(/\\(.)/g, '$1') });
    else return undefined;
  }
  return { text, steps };
}

/** That a reply has nothing at a path: how far the path leads, and what is there. */
export class PathMiss extends Error {}

const kindOf = (value: Json): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  return `an object with ${Object.keys(value).slice(0, 8).join(', ') || 'no keys'}`;
};

/**
 * Everything that a path leads to, in order.
 *
 * @throws PathMiss where a part of it is not there.
 */
export function select(value: Json, path: ReplyPath): Json[] {
  let found: Json[] = [value];
  let walked = '';
  for (const one of path.steps) {
    const named = 'key' in one ? `${walked === '' ? '' : '.'}${one.key}` : 'index' in one ? `[${one.index}]` : '[]';
    found = found.flatMap((inner) => {
      const next = inside(inner, one);
      if (next === undefined)
        throw new PathMiss(`"${walked}${named}" is not there: ${walked || 'it'} is ${kindOf(inner)}`);
      return next;
    });
    walked += named;
  }
  return found;
}

function inside(value: Json, one: Step): Json[] | undefined {
  if ('each' in one) return Array.isArray(value) ? value : undefined;
  if ('index' in one) return Array.isArray(value) && one.index < value.length ? [value[one.index] as Json] : undefined;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, one.key) ? [value[one.key] as Json] : undefined;
}

/** The elements of the list that a path leads to; what it leads to itself where it goes through lists by `[]`. */
export function selectList(value: Json, path: ReplyPath): Json[] {
  const found = select(value, path);
  if (path.steps.some((one) => 'each' in one)) return found;
  const [list] = found;
  if (Array.isArray(list)) return list;
  throw new PathMiss(`"${path.text}" is ${kindOf(list as Json)} and no list`);
}
