import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import type { Json } from '../../schema/json.ts';
import { entriesOf, entryOf, heldEntries } from './note-entries.ts';
import { namesOf } from './note-path.ts';
import { noteTools } from './note-tools.ts';
import { NotesFolder } from './notes-folder.ts';

describe('entries of notes', () => {
  it('are list items with what is indented below them, and lines by themselves', () => {
    const note = '# Travel\n\n- Hotel: sea view\n  - booked: May\n* Train\nno list\n  indented\n- \n';
    expect(entriesOf(note)).toEqual([
      { text: '# Travel', first: 1, last: 1 },
      { text: 'Hotel: sea view\n- booked: May', first: 3, last: 4 },
      { text: 'Train', first: 5, last: 5 },
      { text: 'no list', first: 6, last: 6 },
      { text: 'indented', first: 7, last: 7 },
      { text: '', first: 8, last: 8 },
    ]);
    expect(entriesOf('')).toEqual([]);
  });

  it('give every text back as it was', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '-', '*', '\n', '\r', '\t', '#', 'é', '\u2028', '\0') });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (texts) => {
        expect(entriesOf(texts.map(entryOf).join('')).map((entry) => entry.text)).toEqual(texts);
      }),
    );
  });

  it('are matched to facts: one by one where notes are exact, by what stands in them where not', () => {
    const facts = [
      { id: 'a', key: 'k', text: 'Pet: cat' },
      { id: 'b', key: 'k', text: 'Pet: cat' },
      { id: 'c', key: 'k', text: 'Sport' },
      { id: 'd', key: 'k', text: ' ' },
    ];
    const notes = [{ path: '/memories/n.md', content: '- Pet: cat\n- Pet: cat\n- Pet: cat\n- Sport: chess\n' }];
    const ids = (exact: boolean) => heldEntries(notes, facts, exact).map(({ fact_ids }) => fact_ids.join());
    expect(ids(true)).toEqual(['a', 'b']);
    expect(ids(false)).toEqual(['a,b', 'a,b', 'a,b', 'c']);
  });
});

describe('paths of notes', () => {
  it.each([
    ['/memories', []],
    ['/memories/', []],
    ['/memories/a.md', ['a.md']],
    ['/memories/People & places/Zoë.md', ['People & places', 'Zoë.md']],
    ['/memories/%2e%2e/x', ['%2e%2e', 'x']],
  ])('take %s', (path, names) => {
    expect(namesOf(path)).toEqual(names);
  });

  it.each([
    '',
    'a.md',
    'memories/a.md',
    '/etc/passwd',
    '/memoriesx/a',
    '/memories2',
    '//memories/a',
    '/memories/../secret',
    '/memories/a/../../b',
    '/memories/./a',
    '/memories//a',
    '/memories/..',
    '/memories/a\\..\\b',
    '/memories/a\0b',
    '/memories/a\nb',
    '/memories/c:x',
    '/memories/a.',
    '/memories/a ',
    '/memories/nul.md',
    '/memories/\ud800',
    `/memories/${'x'.repeat(101)}`,
    `/memories${'/d'.repeat(9)}`,
    '../memories/a',
    'C:\\memories\\a',
    '~/memories',
  ])('refuse %j', (path) => {
    expect(() => namesOf(path)).toThrow();
  });
});

interface Shelf {
  root: string;
  use(name: string, input: Json): Promise<string>;
  files(): Promise<string[]>;
}

async function shelf(): Promise<Shelf> {
  const root = join(await tempFolder(), 'notes');
  await mkdir(root);
  const tools = noteTools({ folder: new NotesFolder(root), shown: async () => [] });
  return {
    root,
    use: async (name, input) => {
      const tool = tools.find(({ spec }) => spec.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      return (await tool.run(input)).content;
    },
    files: async () =>
      (await readdir(root, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
        .sort(),
  };
}

describe('tools of notes', () => {
  it('are the six that there are, each with a schema', async () => {
    const tools = noteTools({ folder: new NotesFolder('/nowhere'), shown: async () => [] });
    expect(tools.map(({ spec }) => spec.name)).toEqual(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']);
    for (const { spec } of tools) {
      expect(spec.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(spec.description).not.toMatch(/priva|secret|confiden|sensitiv/i);
    }
  });

  it('write, show and change a note', async () => {
    const { use, root } = await shelf();
    const path = '/memories/trips/spain.md';
    expect(await use('view', { path: '/memories' })).toBe('There are no notes in /memories.');
    expect(await use('create', { path, file_text: 'one\ntwo\nthree' })).toBe(`${path} is written.`);
    expect(await use('view', { path })).toBe(`${path} with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree`);
    expect(await use('view', { path, view_range: [2, -1] })).toBe(
      `${path} with line numbers:\n     2\ttwo\n     3\tthree`,
    );
    expect(await use('str_replace', { path, old_str: 'two', new_str: '$& and $1' })).toBe(`${path} is changed.`);
    expect(await use('insert', { path, insert_line: 0, insert_text: 'zero\n' })).toBe(`${path} is changed.`);
    expect(await use('insert', { path, insert_line: 4, insert_text: 'last' })).toBe(`${path} is changed.`);
    expect(await readFile(join(root, 'trips/spain.md'), 'utf8')).toBe('zero\none\n$& and $1\nthree\nlast\n');
    expect(await use('view', { path: '/memories/' })).toBe(`Notes in /memories/:\n${path} (5 lines)`);
    expect(await use('rename', { old_path: '/memories/trips', new_path: '/memories/2024/trips' })).toBe(
      '/memories/trips is now /memories/2024/trips.',
    );
    expect(await use('view', { path: '/memories/2024/trips/spain.md', view_range: [1, 1] })).toContain('zero');
    expect(await use('delete', { path: '/memories/2024' })).toBe('/memories/2024 is deleted.');
    expect(await readdir(root)).toEqual([]);
  });

  it('answer in words where a call makes no sense, and change nothing', async () => {
    const { use, files, root } = await shelf();
    const path = '/memories/a.md';
    await use('create', { path, file_text: 'cat\ncat\n' });
    const wrong: [string, Json, string][] = [
      ['create', { path, file_text: 'x' }, '/memories/a.md is there already'],
      ['create', { path: '/memories', file_text: 'x' }, '/memories is there already'],
      ['create', { path: '/memories/a.md/b.md', file_text: 'x' }, '/memories/a.md is a note and not a folder'],
      ['create', { path: '/etc/x', file_text: 'x' }, 'a path begins with /memories'],
      ['create', { path: '/memories/../x', file_text: 'x' }, '".." is not a name'],
      ['create', { path: '/memories/big.md', file_text: 'x'.repeat(1_000_001) }, 'at most 1000000 characters'],
      ['create', { path }, 'file_text'],
      ['create', { path: '/memories/x.md', file_text: 'x', mode: 'w' }, 'mode'],
      ['view', { path: '/memories/b.md' }, 'there is no /memories/b.md'],
      ['view', { path, view_range: [2, 1] }, 'view_range must be within 1 and 2'],
      ['view', { path, view_range: [0, 1] }, 'view_range must be within 1 and 2'],
      ['view', { path, view_range: [1, 3] }, 'view_range must be within 1 and 2'],
      ['view', 'everything', 'the input'],
      ['view', null, 'the input'],
      ['str_replace', { path, old_str: 'cat', new_str: 'dog' }, 'old_str occurs 2 times'],
      ['str_replace', { path, old_str: 'dog', new_str: 'cat' }, 'old_str does not occur'],
      ['str_replace', { path, old_str: '', new_str: 'cat' }, 'old_str'],
      ['insert', { path, insert_line: 3, insert_text: 'x' }, 'insert_line must be within 0 and 2'],
      ['insert', { path, insert_line: 0, insert_text: 'x'.repeat(1_000_000) }, 'at most 1000000 characters'],
      ['delete', { path: '/memories' }, '/memories itself cannot be deleted'],
      ['delete', { path: '/memories/b.md' }, 'there is no /memories/b.md'],
      ['rename', { old_path: '/memories', new_path: '/memories/x' }, '/memories itself cannot be renamed'],
      ['rename', { old_path: path, new_path: path }, '/memories/a.md is there already'],
      ['rename', { old_path: path, new_path: '/elsewhere/a.md' }, 'a path begins with /memories'],
    ];
    for (const [name, input, words] of wrong) {
      const answer = await use(name, input);
      expect(answer).toMatch(/^Error: /);
      expect(answer).toContain(words);
    }
    await mkdir(join(root, 'folder'));
    expect(await use('rename', { old_path: '/memories/folder', new_path: '/memories/folder/in' })).toContain(
      'into itself',
    );
    expect(await use('str_replace', { path: '/memories/folder', old_str: 'a', new_str: 'b' })).toContain('is a folder');
    expect(await files()).toEqual(['/a.md']);
    expect(await readFile(join(root, 'a.md'), 'utf8')).toBe('cat\ncat\n');
  });

  it('never follow a link, whoever put it there', async () => {
    const { use, root, files } = await shelf();
    const outside = await tempFolder();
    await writeFile(join(outside, 'secret.md'), 'of somebody else');
    await symlink(outside, join(root, 'out'));
    await symlink(join(outside, 'secret.md'), join(root, 'link.md'));
    await symlink(join(outside, 'new.md'), join(root, 'dangling.md'));
    const attempts: [string, Json][] = [
      ['view', { path: '/memories/out/secret.md' }],
      ['view', { path: '/memories/link.md' }],
      ['view', { path: '/memories/out' }],
      ['create', { path: '/memories/out/x.md', file_text: 'x' }],
      ['create', { path: '/memories/dangling.md', file_text: 'x' }],
      ['str_replace', { path: '/memories/link.md', old_str: 'somebody', new_str: 'x' }],
      ['insert', { path: '/memories/link.md', insert_line: 0, insert_text: 'x' }],
      ['delete', { path: '/memories/out/secret.md' }],
      ['rename', { old_path: '/memories/out/secret.md', new_path: '/memories/mine.md' }],
      ['rename', { old_path: '/memories/link.md', new_path: '/memories/mine.md' }],
    ];
    for (const [name, input] of attempts) expect(await use(name, input)).toMatch(/^Error: /);
    expect(await use('view', { path: '/memories' })).toBe('There are no notes in /memories.');
    expect(await files()).toEqual([]);
    expect(await readdir(outside)).toEqual(['secret.md']);
    expect((await lstat(join(root, 'link.md'))).isSymbolicLink()).toBe(true);
  });

  it('take calls at once in turn, so that no change is lost', async () => {
    const { use, root } = await shelf();
    const path = '/memories/a.md';
    await use('create', { path, file_text: '' });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => use('insert', { path, insert_line: i, insert_text: `line ${i}` })),
    );
    expect(await readFile(join(root, 'a.md'), 'utf8')).toBe(
      Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(''),
    );
  });

  it('show a long note in parts, and no more than 500 notes', async () => {
    const { use, root } = await shelf();
    await writeFile(join(root, 'long.md'), `${'x'.repeat(999)}\n`.repeat(80));
    const whole = await use('view', { path: '/memories/long.md' });
    expect(whole).toContain('(cut at 50000 characters; use view_range for the rest)');
    expect(whole.split('\n').filter((line) => line.includes('x')).length).toBe(50);
    expect(await use('view', { path: '/memories/long.md', view_range: [51, 80] })).not.toContain('cut at');
    for (let i = 0; i < 499; i++) await writeFile(join(root, `${i}.md`), '');
    expect(await use('create', { path: '/memories/more.md', file_text: '' })).toBe(
      'Error: there are 500 notes, which is the limit.',
    );
  });
});
