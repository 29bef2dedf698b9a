import type { z } from 'zod';
import type { Path } from '../contracts/plugin.ts';
import { HeamsError, throwIfAny, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { isMapping, keysAt, valueAt } from './schema-keys.ts';
import { withoutSecrets } from './secrets.ts';

/** What a validation needs of the file that a value came from. */
export interface Source {
  where(path: Path): Where;
  whereKey(path: Path, key: string): Where;
}

type Issue = z.core.$ZodIssue;

/** A value as a short piece of text for "found". A mapping is told by its keys: its values may be secrets. */
function shown(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isMapping(value)) return cut(`a mapping of ${Object.keys(value).join(', ') || 'nothing'}`);
  if (path.some((step) => step === 'headers' || step === 'api_key_env')) return `a ${typeof value}, not shown`;
  return cut(JSON.stringify(withoutSecrets(value)) ?? String(value));
}

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}...` : text);

/**
 * Of a union's branches, the complaints of the one that fits best. Where none fits better than another, the union's
 * own complaint stands.
 */
function closest(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const weight = (branch: readonly Issue[]) =>
    branch.reduce((sum, inner) => sum + (inner.code === 'unrecognized_keys' ? 0.5 : 1), 0);
  const [best, next] = [...issue.errors].sort((a, b) => weight(a) - weight(b));
  if (!best?.some((inner) => inner.code === 'unrecognized_keys' || inner.path.length > 0)) return [issue];
  if (next && weight(next) === weight(best)) return [issue];
  return best.flatMap((inner) => closest({ ...inner, path: [...issue.path, ...inner.path] } as Issue));
}

function toErrors(issue: Issue, data: unknown, schema: z.ZodType, source: Source): HeamsError[] {
  const path = issue.path as (string | number)[];
  const name = path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const valid = keysAt(schema, data, path);
    return issue.keys.map((key) => {
      const meant = nearest(key, valid);
      return new HeamsError(`unknown key "${cut(key)}"${name ? ` in ${name}` : ''}`, {
        code: 'config_unknown_key',
        where: source.whereKey(path, key),
        expected: `one of: ${valid.join(', ')}`,
        found: cut(key),
        ...(meant ? { hint: `did you mean "${meant}"?` } : {}),
      });
    });
  }
  const found = valueAt(data, path);
  if (found === undefined && path.length > 0) {
    return [
      new HeamsError(`missing key "${name}"`, {
        code: 'config_missing_key',
        where: source.where(path),
        expected: expectation(issue),
        found: 'nothing',
        hint: `add "${String(path.at(-1))}" here`,
      }),
    ];
  }
  return [
    new HeamsError(`bad value${name ? ` for "${name}"` : ''}`, {
      code: 'config_bad_value',
      where: source.where(path),
      expected: expectation(issue),
      found: shown(found, path),
      ...valueHint(issue, found, () => keysAt(schema, undefined, path)),
    }),
  ];
}

/** Types as a writer of YAML knows them. */
const typeNames: Readonly<Record<string, string>> = {
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** The values that an issue would take, where it lists them. */
function choices(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union') return [];
  // A tag that no branch of a tagged union has.
  const tags = (issue as { options?: unknown[] }).options;
  if (tags) return tags.map(String);
  const perBranch = issue.errors.map((branch) => branch.flatMap(choices));
  return perBranch.every((values) => values.length > 0) ? perBranch.flat() : [];
}

function expectation(issue: Issue): string {
  const values = choices(issue);
  if (values.length > 0) return `one of: ${values.join(', ')}`;
  // A message that is not zod's own was written for the user.
  if (!/^(Invalid |Too (small|big): expected )/.test(issue.message)) return issue.message;
  if (issue.code === 'invalid_type') return typeNames[issue.expected] ?? `a value of type ${issue.expected}`;
  if (issue.code === 'invalid_format') return `a valid ${issue.format}`;
  if (issue.code === 'invalid_union') {
    return [...new Set(issue.errors.flatMap(([first]) => (first ? [expectation(first)] : [])))].join(', or ');
  }
  return issue.message.replace(/^(Invalid input|Too small|Too big): (expected )?/, '');
}

/** The nearest valid name: of a value out of a list, or of a key that no branch of a union has. */
function valueHint(issue: Issue, found: unknown, keys: () => string[]): { hint?: string } {
  const pairs = typeof found === 'string' ? [{ word: found, valid: choices(issue) }] : [];
  if (issue.code === 'invalid_union' && isMapping(found)) {
    const valid = keys();
    pairs.push(...Object.keys(found).flatMap((word) => (valid.includes(word) ? [] : [{ word, valid }])));
  }
  for (const { word, valid } of pairs) {
    const meant = nearest(word, valid);
    if (meant) return { hint: `did you mean "${meant}"?` };
  }
  return {};
}

/** A rule about a mapping as a whole, such as "either a or b", says nothing while a key of that mapping is misspelled. */
function withoutEchoes(issues: readonly Issue[]): Issue[] {
  const misspelled = new Set(issues.flatMap(({ code, path }) => (code === 'unrecognized_keys' ? [path.join()] : [])));
  return issues.filter(({ code, path }) => code !== 'custom' || !misspelled.has(path.join()));
}

/** Parses a config value, or throws every problem found, each with its place and the nearest valid name. */
export function validate<T>(schema: z.ZodType<T>, data: unknown, source: Source): T {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const issues = withoutEchoes(parsed.error.issues.flatMap(closest));
  throwIfAny(issues.flatMap((issue) => toErrors(issue, data, schema, source)));
  throw parsed.error;
}
