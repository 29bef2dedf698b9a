/** A place in a JSON text: `offset` counts UTF-16 units from 0, `line` and `column` from 1. */
export interface JsonPosition {
  offset: number;
  line: number;
  column: number;
}

/** One token at the current place: a bracket, a separator, a number or a word. */
const token = /[[\]{},:]|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
/** Parts of a string. One expression for the whole string would overflow the stack on a long one. */
const plain = /[^"\\\u0000-\u001f]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const blank = /[ \t\n\r]*/y;

type Next = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'comma_or_end' | 'nothing';

/**
 * Where a text stops being JSON (RFC 8259), or `undefined` when it is JSON. `JSON.parse` says so only in some of its
 * messages, and a user with a row of two thousand characters needs it every time.
 */
export function jsonErrorPosition(text: string): JsonPosition | undefined {
  const open: ('{' | '[')[] = [];
  let next: Next = 'value';
  let offset = 0;
  for (;;) {
    offset += lengthOf(blank, text, offset);
    if (offset === text.length) return next === 'nothing' ? undefined : positionAt(text, offset);
    const length = tokenLength(text, offset);
    const after: Next | undefined = length === 0 ? undefined : step(next, text[offset] as string, open);
    if (after === undefined) return positionAt(text, offset);
    next = after;
    offset += length;
  }
}

/** Length of the token at `offset`; 0 where none starts or a string never ends. */
function tokenLength(text: string, offset: number): number {
  if (text[offset] !== '"') return lengthOf(token, text, offset);
  let end = offset + 1;
  for (;;) {
    end += lengthOf(plain, text, end);
    if (text[end] === '"') return end + 1 - offset;
    const length = lengthOf(escaped, text, end);
    if (length === 0) return 0;
    end += length;
  }
}

function lengthOf(part: RegExp, text: string, offset: number): number {
  part.lastIndex = offset;
  return part.exec(text)?.[0].length ?? 0;
}

/** What may follow a token that starts with `first`, or `undefined` when it may not stand where `next` is due. */
function step(next: Next, first: string, open: ('{' | '[')[]): Next | undefined {
  if (first === '}' || first === ']') {
    const closes = next === 'comma_or_end' || next === (first === '}' ? 'key_or_end' : 'value_or_end');
    if (!closes || open.pop() !== (first === '}' ? '{' : '[')) return undefined;
    return open.length === 0 ? 'nothing' : 'comma_or_end';
  }
  if (first === ',') {
    if (next !== 'comma_or_end') return undefined;
    return open.at(-1) === '{' ? 'key' : 'value';
  }
  if (first === ':') return next === 'colon' ? 'value' : undefined;
  if (next === 'key' || next === 'key_or_end') return first === '"' ? 'colon' : undefined;
  if (next !== 'value' && next !== 'value_or_end') return undefined;
  if (first === '{' || first === '[') {
    open.push(first);
    return first === '{' ? 'key_or_end' : 'value_or_end';
  }
  return open.length === 0 ? 'nothing' : 'comma_or_end';
}

function positionAt(text: string, offset: number): JsonPosition {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    start = at + 1;
  }
  return { offset, line, column: offset - start + 1 };
}
