import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemOf, problemsOf } from '../../test/support/marked.ts';
import type { Path } from '../contracts/plugin.ts';
import { validate } from './validate.ts';

/** Names a place by its path, in place of a line and a column. */
const source = {
  where: (path: Path) => ({ file: path.join('/') }),
  whereKey: (path: Path, key: string) => ({ file: [...path, key].join('/') }),
};
const check = (schema: z.ZodType, data: unknown) => () => validate(schema, data, source);

const dataset = z.union(
  [
    z.strictObject({ hub: z.string(), revision: z.string().optional(), limit: z.int().optional() }),
    z.strictObject({ file: z.string(), limit: z.int().optional() }),
  ],
  { error: 'one of: hub (a repository) or file (a path)' },
);

const shape = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('circle'), radius: z.number() }),
  z.strictObject({
    type: z.literal('square'),
    side: z.number(),
    border: z.strictObject({ width: z.int() }).optional(),
  }),
]);

describe('validate', () => {
  it('gives the parsed value, defaults filled', () => {
    const schema = z.strictObject({ a: z.int().default(3) });
    expect(validate(schema, {}, source)).toEqual({ a: 3 });
  });

  it.each([
    [z.string(), 1, 'a text', '1'],
    [z.int(), 1.5, 'a whole number', '1.5'],
    [z.number(), '1', 'a number', '"1"'],
    [z.boolean(), 'yes', 'true or false', '"yes"'],
    [z.array(z.int()), 3, 'a list', '3'],
    [z.strictObject({ a: z.int() }), [1, 2], 'a mapping of keys to values', 'a list of 2'],
    [z.record(z.string(), z.int()), null, 'a mapping of keys to values', 'null'],
    [z.int().positive(), 0, 'number to be >0', '0'],
    [z.string().min(1), '', 'string to have >=1 characters', '""'],
    [z.url(), 'nowhere', 'a valid url', '"nowhere"'],
    [z.enum(['raw', 'boundary']), 7, 'one of: raw, boundary', '7'],
    [z.union([z.literal(1), z.literal(2)]), 5, 'one of: 1, 2', '5'],
    [z.union([z.string(), z.int()]), true, 'a text, or a number', 'true'],
    [z.never({ error: 'nothing here' }).optional(), 5, 'nothing here', '5'],
    [z.string().regex(/^x/, 'something with an x'), 'y', 'something with an x', '"y"'],
  ])('%# says what was expected and what was found', async (schema, value, expected, found) => {
    const problem = await problemOf(check(z.strictObject({ k: schema as z.ZodType }), { k: value }));
    expect(problem).toMatchObject({ code: 'config_bad_value', message: 'bad value for "k"', expected, found });
    expect(problem.where).toEqual({ file: 'k' });
  });

  it('cuts long values and long keys', async () => {
    const schema = z.strictObject({ k: z.int().optional() });
    expect((await problemOf(check(schema, { k: 'x'.repeat(500) }))).found).toBe(`"${'x'.repeat(76)}...`);
    expect((await problemOf(check(schema, { ['y'.repeat(500)]: 1 }))).found).toBe(`${'y'.repeat(77)}...`);
  });

  it('shows no header, no key that stands in for its name, and no password of a URL', async () => {
    const schema = z.strictObject({
      api_key_env: z.string().regex(/^[A-Z_]+$/, 'a name'),
      headers: z.record(z.string(), z.string()),
      base_url: z.literal('x'),
      pair: z.int(),
    });
    const problems = await problemsOf(
      check(schema, {
        api_key_env: 'sk-12345',
        headers: { a: 12345 },
        base_url: 'http://me:12345@host',
        pair: { key: '12345' },
      }),
    );
    expect(problems.map((one) => one.found)).toEqual([
      'a string, not shown',
      'a number, not shown',
      '"http://<redacted>@host"',
      'a mapping of key',
    ]);
    expect(problems.map((one) => one.describe()).join()).not.toContain('12345');
  });

  it('names the nearest of listed values', async () => {
    const problem = await problemOf(check(z.strictObject({ k: z.enum(['inject', 'tool']) }), { k: 'injct' }));
    expect(problem.hint).toBe('did you mean "inject"?');
  });

  it('says a key that a custom rule misses as missing', async () => {
    const schema = z.strictObject({ a: z.string().optional() }).superRefine((_value, context) => {
      context.addIssue({ code: 'custom', path: ['a'], message: 'a prompt over {{ items }}' });
    });
    expect(await problemOf(check(schema, {}))).toMatchObject({
      code: 'config_missing_key',
      expected: 'a prompt over {{ items }}',
    });
  });

  it('takes lists and maps into the name of a place', async () => {
    const schema = z.strictObject({ rows: z.array(z.record(z.string(), z.strictObject({ size: z.int() }))) });
    const problem = await problemOf(check(schema, { rows: [{}, { a: { siez: 1, size: 1 } }] }));
    expect(problem).toMatchObject({
      message: 'unknown key "siez" in rows.1.a',
      where: { file: 'rows/1/a/siez' },
      expected: 'one of: size',
      hint: 'did you mean "size"?',
    });
  });

  it('reports everything at once', async () => {
    const schema = z.strictObject({ a: z.int(), b: z.int(), c: z.int() });
    const problems = await problemsOf(check(schema, { a: 'x', b: 1, d: 1, e: 2 }));
    expect(problems.map((one) => one.message)).toEqual([
      'bad value for "a"',
      'missing key "c"',
      'unknown key "d"',
      'unknown key "e"',
    ]);
  });
});

describe('a tagged union', () => {
  const schema = z.strictObject({ shape });

  it('is told by the branch of its tag', async () => {
    const problem = await problemOf(check(schema, { shape: { type: 'square', side: 'x' } }));
    expect(problem).toMatchObject({ message: 'bad value for "shape.side"', expected: 'a number' });
  });

  it("offers the keys of that branch, and not another's", async () => {
    const problem = await problemOf(check(schema, { shape: { type: 'square', side: 1, radius: 2 } }));
    expect(problem).toMatchObject({
      message: 'unknown key "radius" in shape',
      expected: 'one of: type, side, border',
      hint: undefined,
    });
  });

  it('is told inside a block of that branch', async () => {
    const problem = await problemOf(
      check(schema, { shape: { type: 'square', side: 1, border: { width: 1, widht: 2 } } }),
    );
    expect(problem).toMatchObject({ expected: 'one of: width', hint: 'did you mean "width"?' });
  });

  it('lists its tags where the tag is wrong or missing', async () => {
    expect(await problemOf(check(schema, { shape: { type: 'circel' } }))).toMatchObject({
      message: 'bad value for "shape.type"',
      expected: 'one of: circle, square',
      hint: 'did you mean "circle"?',
    });
    expect(await problemOf(check(schema, { shape: { side: 1 } }))).toMatchObject({
      message: 'missing key "shape.type"',
      expected: 'one of: circle, square',
    });
  });
});

describe('a plain union', () => {
  const schema = z.strictObject({ dataset });
  const own = 'one of: hub (a repository) or file (a path)';

  it('is told by the branch that fits best', async () => {
    expect(await problemOf(check(schema, { dataset: { file: 'x', limt: 1 } }))).toMatchObject({
      message: 'unknown key "limt" in dataset',
      expected: 'one of: file, limit',
      hint: 'did you mean "limit"?',
    });
    expect(await problemOf(check(schema, { dataset: { hub: 'a/b', limit: 'ten' } }))).toMatchObject({
      message: 'bad value for "dataset.limit"',
      expected: 'a number',
    });
  });

  it.each([
    ['a text', 'x.parquet', '"x.parquet"', undefined],
    ['an empty mapping', {}, 'a mapping of nothing', undefined],
    ['what all branches take', { limit: 3 }, 'a mapping of limit', undefined],
    ['what two branches want', { hub: 'a/b', file: 'x' }, 'a mapping of hub, file', undefined],
    ['what no branch has', { fil: 'x' }, 'a mapping of fil', 'did you mean "file"?'],
  ])('speaks for itself where no branch fits better: %s', async (_what, value, found, hint) => {
    const problem = await problemOf(check(schema, { dataset: value }));
    expect(problem).toMatchObject({ message: 'bad value for "dataset"', expected: own, found, hint });
  });
});
