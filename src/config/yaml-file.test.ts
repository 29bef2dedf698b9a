import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { marked, problemOf, problemsOf } from '../../test/support/marked.ts';
import { readYamlFile } from './yaml-file.ts';

let dir = '';
let file = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'heams-'));
  file = join(dir, 'config.yaml');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function read(content: string | Uint8Array) {
  await writeFile(file, content);
  return readYamlFile(file);
}

async function markedProblem(text: string) {
  const { text: plain, line, column } = marked(text);
  const problem = await problemOf(() => read(plain));
  expect(problem.where).toEqual({ file, line, column });
  return problem;
}

/** Each level uses the one above nine times: 9^9 values when written out. */
const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...[...'bcdefghi'].map((name, i) => {
    const above = 'abcdefgh'[i];
    return `${name}: &${name} [${Array(9).fill(`*${above}`).join(', ')}]`;
  }),
].join('\n');

describe('readYamlFile', () => {
  it('reads data', async () => {
    expect((await read('a: 1\nb: [x, { c: true }]\nd: |\n  one\n  two\n')).data).toEqual({
      a: 1,
      b: ['x', { c: true }],
      d: 'one\ntwo\n',
    });
  });

  it('takes a byte order mark, Windows line ends, a leading --- and a closing ...', async () => {
    const read1 = await read('\ufeff---\r\na: 1\r\nb: 2\r\n...\r\n');
    expect(read1.data).toEqual({ a: 1, b: 2 });
    expect(read1.where(['b'])).toEqual({ file, line: 3, column: 4 });
  });

  it('follows aliases', async () => {
    expect((await read('a: &p text\nb: *p\nc: [*p, *p]\n')).data).toEqual({
      a: 'text',
      b: 'text',
      c: ['text', 'text'],
    });
  });

  it.each([
    ['nothing', ''],
    ['blank lines', '\n  \n'],
    ['comments alone', '# one\n# two\n'],
  ])('refuses %s as empty', async (_what, text) => {
    const problem = await problemOf(() => read(text));
    expect(problem).toMatchObject({ code: 'config_empty', where: { file, line: 1, column: 1 } });
  });

  it.each([
    ['a tab for indentation', 'a:\n▸\tb: 1\n'],
    ['a key twice', 'a: 1\n▸a: 2\n'],
    ['a key twice in a nested block', 'a:\n  - b: 1\n    ▸b: 2\n'],
    ['a list that is not closed', 'a: [1, 2\n▸b: 3\n'],
    ['an unknown tag', 'a: ▸!secret x\n'],
  ])('says where there is %s', async (_what, text) => {
    const problem = await markedProblem(text);
    expect(problem.code).toBe('config_bad_yaml');
    expect(problem.message).toMatch(/^not valid YAML: /);
  });

  it('says every syntax error, but not one twice', async () => {
    const problems = await problemsOf(() => read('a: 1\na: 2\nb: 1\nb: 2\nc: 1\n d: 2\n'));
    expect(problems.map(({ where }) => where?.line)).toEqual([2, 4, 5]);
  });

  it('ends the flood of errors that deep nesting sets off', async () => {
    const problems = await problemsOf(() => read('['.repeat(20_000)));
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(10);
  });

  it('refuses a second document', async () => {
    const problem = await markedProblem('a: 1\n▸---\nb: 2\n');
    expect(problem.message).toBe('a config file holds one document');
  });

  it('refuses an alias bomb', async () => {
    const problem = await problemOf(() => read(bomb));
    expect(problem).toMatchObject({ code: 'config_bad_yaml', where: { file, line: 1, column: 1 } });
    expect(problem.hint).toContain('at most 100 times');
  });

  it('refuses an alias that is used more than 100 times, and takes 100', async () => {
    const uses = (n: number) => `a: &a x\nb: [${Array(n).fill('*a').join(', ')}]`;
    expect((await read(uses(100))).data).toEqual({ a: 'x', b: Array(100).fill('x') });
    expect((await problemOf(() => read(uses(101)))).code).toBe('config_bad_yaml');
  });

  it.each([
    ['is not defined', 'a: 1\nb: ▸*a\n', '*a is not defined above it'],
    ['is defined below', 'b: ▸*a\na: &a 1\n', '*a is not defined above it'],
    ['holds itself', 'a: &a\n  b:\n    - ▸*a\n', '*a is used inside itself'],
  ])('refuses an alias that %s', async (_what, text, message) => {
    expect((await markedProblem(text)).message).toBe(`not usable YAML: ${message}`);
  });

  it('refuses bytes that are not UTF-8', async () => {
    const latin1 = Uint8Array.from([...'a: caf'].map((char) => char.charCodeAt(0)).concat(0xe9));
    expect(await problemOf(() => read(latin1))).toMatchObject({ code: 'config_bad_encoding', where: { file } });
  });

  it('refuses a huge file without reading it', async () => {
    const problem = await problemOf(() => read(Buffer.alloc((4 << 20) + 1, 'a')));
    expect(problem).toMatchObject({
      code: 'config_too_large',
      where: { file },
      expected: 'at most 4194304 bytes',
      found: '4194305 bytes',
    });
  });

  it('refuses a folder', async () => {
    const folder = join(dir, 'folder.yaml');
    await mkdir(folder);
    expect(await problemOf(() => readYamlFile(folder))).toMatchObject({
      code: 'config_missing_file',
      where: { file: folder },
      found: 'a folder',
    });
  });

  it('says which file of the folder a missing one may have meant', async () => {
    await read('a: 1\n');
    const missing = join(dir, 'confg.yaml');
    const problem = await problemOf(() => readYamlFile(missing));
    expect(problem).toMatchObject({ where: { file: missing }, hint: 'did you mean "config.yaml"?' });
  });

  it('points at the file that named a missing one', async () => {
    const usedBy = { file: '/run.yaml', line: 4, column: 7 };
    const problem = await problemOf(() => readYamlFile(join(dir, 'none', 'x.yaml'), usedBy));
    expect(problem.where).toEqual(usedBy);
  });
});

describe('places', () => {
  const text = [
    'top: 1',
    'list:',
    '  - a: x',
    '    b: |',
    '      first',
    '      {{ second }}',
    '  - {c: "q", d: }',
    '',
  ].join('\n');

  it('are those of values', async () => {
    const { where } = await read(text);
    expect(where(['top'])).toEqual({ file, line: 1, column: 6 });
    expect(where(['list', 0, 'a'])).toEqual({ file, line: 3, column: 8 });
    expect(where(['list', 1, 'c'])).toEqual({ file, line: 7, column: 9 });
    expect(where(['list', 1])).toEqual({ file, line: 7, column: 5 });
    expect(where([])).toEqual({ file, line: 1, column: 1 });
  });

  it('are those of the nearest parent where a value is missing', async () => {
    const { where } = await read(text);
    expect(where(['list', 0, 'z', 'y'])).toEqual({ file, line: 3, column: 5 });
    expect(where(['nowhere'])).toEqual({ file, line: 1, column: 1 });
  });

  it('are those of keys', async () => {
    const { whereKey } = await read(text);
    expect(whereKey(['list', 0], 'b')).toEqual({ file, line: 4, column: 5 });
    expect(whereKey(['list', 1], 'd')).toEqual({ file, line: 7, column: 14 });
    expect(whereKey(['list', 0], 'z')).toEqual({ file, line: 3, column: 5 });
  });

  it('are those of a text inside a value, and of the value where it is not there', async () => {
    const { whereText } = await read(text);
    expect(whereText(['list', 0, 'b'], 'second')).toEqual({ file, line: 6, column: 10 });
    expect(whereText(['list', 0, 'b'], /sec.nd/)).toEqual({ file, line: 6, column: 10 });
    expect(whereText(['list', 0, 'a'], 'second')).toEqual({ file, line: 3, column: 8 });
  });

  it('of what an alias brings are those of the alias', async () => {
    const { where, whereText } = await read('p: &p\n  k: text\nq: *p\n');
    expect(where(['q', 'k'])).toEqual({ file, line: 3, column: 4 });
    expect(whereText(['q', 'k'], 'text')).toEqual({ file, line: 3, column: 4 });
  });
});
