import type { Random } from '../../src/lib/random.ts';

/** Pieces that have broken parsers before: structure, names of prototypes, odd numbers, lone surrogates, deep nesting. */
const nasty = [
  '',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ',',
  ':',
  '\n',
  '\u0000',
  '\ud800',
  '\ufeff',
  '\u2028',
  '- ',
  '*a',
  '&a ',
  '!!binary ',
  '<<: *a',
  '? ',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  'false',
  '-0',
  '1e999',
  'NaN',
  '9007199254740993',
  '{"toString":1,"valueOf":1}',
  '{{ user_task }}',
  '{% for i in (1..9) %}',
  '<think>',
  '</think>',
  '['.repeat(3000),
  '{"a":'.repeat(3000),
  `${'['.repeat(20_000)}1${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  '<script>'.repeat(300),
];

const pick = <T>(items: readonly T[], random: Random): T => items[Math.floor(random() * items.length)] as T;

/** A text with one to four small changes: cut, doubled, swapped, overwritten, or with something nasty put in. */
export function mutateText(text: string, random: Random): string {
  let left = text;
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * (left.length + 1));
    const to = Math.min(left.length, at + Math.floor(random() * random() * 60));
    switch (Math.floor(random() * 6)) {
      case 0:
        left = left.slice(0, at) + left.slice(to);
        break;
      case 1:
        left = left.slice(0, to) + left.slice(at);
        break;
      case 2:
        left = left.slice(0, at) + String.fromCharCode(Math.floor(random() * 128)) + left.slice(at + 1);
        break;
      case 3:
        left = left.slice(0, at);
        break;
      default:
        left = left.slice(0, at) + pick(nasty, random) + left.slice(to);
    }
  }
  return left;
}

const values: readonly unknown[] = [
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  1e308,
  true,
  [],
  {},
  [null],
  { toString: 1, valueOf: 1 },
  'x'.repeat(5000),
  '\ud800',
  '../../etc',
  JSON.parse('{"__proto__":{"polluted":true}}'),
];

/** A JSON value with one place in it replaced, taken out, renamed or doubled. The value given is left as it is. */
export function mutateValue(value: unknown, random: Random): unknown {
  if (random() < 0.002) return deep();
  if (value === null || typeof value !== 'object' || random() < 0.1) return pick(values, random);
  if (Array.isArray(value)) {
    const at = Math.floor(random() * value.length);
    if (random() < 0.2) return [...value, ...value.slice(at, at + 1)];
    return value.map((inner, i) => (i === at ? mutateValue(inner, random) : inner));
  }
  const entries = Object.entries(value);
  const at = Math.floor(random() * entries.length);
  const [key, inner] = entries[at] ?? ['a', 1];
  const what = random();
  if (what < 0.15) entries.splice(at, 1);
  else if (what < 0.3) entries[at] = [mutateText(key, random), inner];
  else if (what < 0.35) entries.push([pick(nasty, random), inner]);
  else entries[at] = [key, mutateValue(inner, random)];
  return Object.fromEntries(entries);
}

function deep(): unknown {
  let value: unknown = 1;
  for (let i = 0; i < 1500; i++) value = i % 2 ? [value] : { a: value };
  return value;
}
