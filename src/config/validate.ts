import { z } from 'zod';
import type { Path } from '../contracts/plugin.ts';
import { HeamsError, throwIfAny, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';

/** What a validation needs of the file that a value came from. */
export interface Source {
  where(path: Path): Where;
  whereKey(path: Path, key: string): Where;
}

type Issue = z.core.$ZodIssue;
type Raw = Record<string, unknown>;

/** Names of the keys that a schema takes at a path, by way of its JSON schema. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let nodes: Raw[] = [z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Raw];
  const expand = (node: Raw): Raw[] => {
    const branches = (node.anyOf ?? node.oneOf ?? node.allOf) as Raw[] | undefined;
    return branches ? branches.flatMap(expand) : [node];
  };
  for (const step of path) {
    nodes = nodes.flatMap(expand).flatMap((node) => {
      const child = typeof step === 'number' ? node.items : (node.properties as Raw | undefined)?.[String(step)];
      return child ? [child as Raw] : [];
    });
  }
  return [...new Set(nodes.flatMap(expand).flatMap((node) => Object.keys((node.properties as Raw | undefined) ?? {})))];
}

const valueAt = (data: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], data);

/** A value as a short piece of text for "found". */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Of a union's branches, the complaints of the one that fits best. */
function closest(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const weight = (branch: Issue[]) => branch.reduce((sum, inner) => sum + (inner.code === 'unrecognized_keys' ? 0.5 : 1), 0);
  const [best] = [...issue.errors].sort((a, b) => weight(a) - weight(b));
  if (!best?.some((inner) => inner.code === 'unrecognized_keys' || inner.path.length > 0)) return [issue];
  return best.flatMap((inner) => closest({ ...inner, path: [...issue.path, ...inner.path] } as Issue));
}

function toErrors(issue: Issue, data: unknown, schema: z.ZodType, source: Source): HeamsError[] {
  const path = issue.path as (string | number)[];
  const name = path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const valid = keysAt(schema, path);
    return issue.keys.map((key) => {
      const meant = nearest(key, valid);
      return new HeamsError(`unknown key "${key}"${name ? ` in ${name}` : ''}`, {
        code: 'config_unknown_key',
        where: source.whereKey(path, key),
        expected: `one of: ${valid.join(', ')}`,
        found: key,
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
      found: shown(found),
      ...valueHint(issue, found),
    }),
  ];
}

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_type') return `a value of type ${issue.expected}`;
  if (issue.code === 'invalid_value') return `one of: ${issue.values.map(String).join(', ')}`;
  return issue.message.replace(/^Invalid input: (expected )?/, '');
}

function valueHint(issue: Issue, found: unknown): { hint?: string } {
  if (issue.code !== 'invalid_value' || typeof found !== 'string') return {};
  const meant = nearest(found, issue.values.map(String));
  return meant ? { hint: `did you mean "${meant}"?` } : {};
}

/** Parses a config value, or throws every problem found, each with its place and the nearest valid name. */
export function validate<T>(schema: z.ZodType<T>, data: unknown, source: Source): T {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throwIfAny(parsed.error.issues.flatMap(closest).flatMap((issue) => toErrors(issue, data, schema, source)));
  throw parsed.error;
}
