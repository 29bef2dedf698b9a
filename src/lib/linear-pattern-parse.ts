export type PatternNode =
  /** One character. */
  | { kind: 'unit'; accepts(code: number): boolean }
  /** A place between two characters; `undefined` is an end of the text. */
  | { kind: 'assert'; holds(before: number | undefined, after: number | undefined): boolean }
  | { kind: 'all'; parts: readonly PatternNode[] }
  | { kind: 'any'; parts: readonly PatternNode[] }
  | { kind: 'repeat'; part: PatternNode; min: number; max: number };

type Accepts = (code: number) => boolean;

const MAX_REPEAT = 200;
const MAX_DEPTH = 20;

const isDigit: Accepts = (code) => code >= 48 && code <= 57;
const isWord: Accepts = (code) => /[\p{L}\p{N}\p{M}_]/u.test(String.fromCodePoint(code));
const isSpace: Accepts = (code) => /\s/u.test(String.fromCodePoint(code));
const isBreak: Accepts = (code) => code === 10 || code === 13;
const not =
  (accepts: Accepts): Accepts =>
  (code) =>
    !accepts(code);

const classes: Readonly<Record<string, Accepts>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11 };

const wordAt = (code: number | undefined): boolean => code !== undefined && isWord(code);
const asserts: Readonly<Record<string, Extract<PatternNode, { kind: 'assert' }>['holds']>> = {
  '^': (before) => before === undefined || isBreak(before),
  $: (_before, after) => after === undefined || isBreak(after),
  b: (before, after) => wordAt(before) !== wordAt(after),
  B: (before, after) => wordAt(before) === wordAt(after),
};

/** The forms that a character takes where case does not count. */
function caseForms(code: number): number[] {
  const text = String.fromCodePoint(code);
  const forms = [text, text.toLowerCase(), text.toUpperCase()].flatMap((form) =>
    [...form].length === 1 ? [form.codePointAt(0) as number] : [],
  );
  return [...new Set(forms)];
}

function literal(code: number): Accepts {
  const forms = caseForms(code);
  return (other) => forms.includes(other) || caseForms(other).some((form) => forms.includes(form));
}

/** Reads a regular expression. Throws an `Error` that says what is wrong, and at which character from 1. */
export function parsePattern(source: string): PatternNode {
  return new Parser(source).read();
}

class Parser {
  private readonly characters: readonly string[];
  private at = 0;

  constructor(source: string) {
    this.characters = [...source];
  }

  read(): PatternNode {
    const node = this.any(0);
    if (this.at < this.characters.length) throw this.wrong('a ")" without its "("');
    return node;
  }

  private wrong(what: string): Error {
    return new Error(`${what}, at character ${this.at + 1}`);
  }

  private get next(): string | undefined {
    return this.characters[this.at];
  }

  private take(character: string): boolean {
    if (this.next !== character) return false;
    this.at += 1;
    return true;
  }

  private any(depth: number): PatternNode {
    if (depth > MAX_DEPTH) throw this.wrong(`groups more than ${MAX_DEPTH} deep`);
    const parts = [this.all(depth)];
    while (this.take('|')) parts.push(this.all(depth));
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'any', parts };
  }

  private all(depth: number): PatternNode {
    const parts: PatternNode[] = [];
    while (this.next !== undefined && this.next !== '|' && this.next !== ')') parts.push(this.repeated(depth));
    return { kind: 'all', parts };
  }

  private repeated(depth: number): PatternNode {
    const part = this.one(depth);
    const times = this.times();
    if (!times) return part;
    // Lazy or not, what is found is the same.
    this.take('?');
    if (this.next !== undefined && '*+?'.includes(this.next)) throw this.wrong('a repetition of a repetition');
    return { kind: 'repeat', part, ...times };
  }

  private times(): { min: number; max: number } | undefined {
    if (this.take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.take('?')) return { min: 0, max: 1 };
    if (this.next !== '{') return undefined;
    const rest = this.characters.slice(this.at, this.at + 12).join('');
    const counted = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(rest);
    if (!counted) throw this.wrong('a "{" that starts no count such as {2,5}; write \\{ for the character');
    const min = Number(counted[1]);
    const max = counted[2] === undefined ? min : counted[3] ? Number(counted[3]) : Number.POSITIVE_INFINITY;
    if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT))
      throw this.wrong(`a count above ${MAX_REPEAT}`);
    if (max < min) throw this.wrong('a count whose end is below its start');
    this.at += counted[0].length;
    return { min, max };
  }

  private one(depth: number): PatternNode {
    const character = this.next as string;
    if ('*+?{'.includes(character)) throw this.wrong(`a "${character}" with nothing to repeat`);
    this.at += 1;
    if (character === '(') return this.group(depth);
    if (character === '[') return { kind: 'unit', accepts: this.set() };
    if (character === '.') return { kind: 'unit', accepts: not(isBreak) };
    if (character === '\\') return this.escape();
    const holds = character === '^' || character === '$' ? asserts[character] : undefined;
    if (holds) return { kind: 'assert', holds };
    return { kind: 'unit', accepts: literal(character.codePointAt(0) as number) };
  }

  private group(depth: number): PatternNode {
    if (this.take('?') && !this.take(':')) throw this.wrong('look-around and named groups are not to be had here');
    const inside = this.any(depth + 1);
    if (!this.take(')')) throw this.wrong('a "(" without its ")"');
    return inside;
  }

  private escape(): PatternNode {
    const holds = this.next === 'b' || this.next === 'B' ? asserts[this.next] : undefined;
    if (holds) {
      this.at += 1;
      return { kind: 'assert', holds };
    }
    const escaped = this.escaped();
    return { kind: 'unit', accepts: typeof escaped === 'number' ? literal(escaped) : escaped };
  }

  /** What follows a backslash: a class, or one character. */
  private escaped(): Accepts | number {
    const character = this.next;
    if (character === undefined) throw this.wrong('a "\\" at the end');
    const known = Object.hasOwn(classes, character) ? classes[character] : undefined;
    const control = Object.hasOwn(controls, character) ? controls[character] : undefined;
    if (!known && control === undefined && /[A-Za-z0-9]/.test(character)) {
      throw this.wrong(`"\\${character}" is not to be had here`);
    }
    this.at += 1;
    return known ?? control ?? (character.codePointAt(0) as number);
  }

  private set(): Accepts {
    const negated = this.take('^');
    const accepted: Accepts[] = [];
    for (let first = true; ; first = false) {
      if (this.next === undefined) throw this.wrong('a "[" without its "]"');
      if (!first && this.take(']')) break;
      const from = this.member();
      const range = this.next === '-' && this.characters[this.at + 1] !== ']';
      if (typeof from !== 'number' || !range) {
        accepted.push(typeof from === 'number' ? literal(from) : from);
        continue;
      }
      this.at += 1;
      const to = this.next === undefined ? undefined : this.member();
      if (typeof to !== 'number' || to < from) throw this.wrong('a range that does not rise');
      accepted.push((code) => caseForms(code).some((form) => form >= from && form <= to));
    }
    const any: Accepts = (code) => accepted.some((accepts) => accepts(code));
    return negated ? not(any) : any;
  }

  private member(): Accepts | number {
    const character = this.next as string;
    this.at += 1;
    return character === '\\' ? this.escaped() : (character.codePointAt(0) as number);
  }
}
