import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childModule } from '../../test/support/child-module.ts';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import type { Fact } from '../schema/record.ts';
import { fullTextQuery } from './sqlite/full-text-query.ts';
import { type SqliteOptions, sqlite } from './sqlite.ts';

const create = (file: Partial<SqliteOptions> = {}) =>
  sqlite.create(sqlite.schema.parse({ backend: 'sqlite', ...file }), fakePluginContext());

const capabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
};

memoryContract('sqlite', () => create(), { capabilities });
memoryContract('sqlite with stems', () => create({ tokenizer: 'porter' }), { capabilities });
memoryContract('sqlite with trigrams, in memory', () => create({ file: ':memory:', tokenizer: 'trigram' }), {
  capabilities,
});

const fact = (id: string, text: string): Fact => ({ id, key: id, text });

async function scopeOf(backend: MemoryBackend, facts: readonly Fact[], name = 'scope') {
  const scope = await backend.open(name, fakeCall());
  await scope.write(facts);
  return scope;
}

const idsOf = ({ items }: { items: readonly { fact_ids: string[] }[] }) => items.flatMap(({ fact_ids }) => fact_ids);

describe('sqlite: what it finds', () => {
  it('ranks as BM25 does, worked out by hand', async () => {
    const backend = await create({ file: ':memory:' });
    const scope = await scopeOf(backend, [
      fact('d0', 'red apple'),
      fact('d1', 'red car red'),
      fact('d2', 'blue car'),
      fact('d3', 'green pear'),
      fact('d4', 'grey pear'),
    ]);
    // FTS5: idf = ln((N - n + 0.5) / (n + 0.5)) with N = 5, n = 2: ln(3.5 / 2.5). k1 = 1.2, b = 0.75, average length 2.2.
    const { items } = await scope.search('red', 5);
    const idf = Math.log(3.5 / 2.5);
    const score = (tf: number, length: number) => (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * length) / 2.2));
    expect(items.map(({ text }) => text)).toEqual(['red car red', 'red apple']);
    expect(items[0]?.score).toBeCloseTo(score(2, 3), 9);
    expect(items[1]?.score).toBeCloseTo(score(1, 2), 9);
    await backend.close();
  });

  it('ranks by the facts of its own scope, whatever else the file holds', async () => {
    const backend = await create();
    const facts = [fact('a', 'Hotel: an ocean view'), fact('b', 'Ship: an ocean liner'), fact('c', 'Pet: a cat')];
    const alone = await scopeOf(backend, facts, 'alone');
    const before = await alone.search('ocean view', 3);
    const others = Array.from({ length: 40 }, (_, i) => fact(`x${i}`, `View ${i}: an ocean view`));
    const crowd = await scopeOf(backend, others, 'crowd');
    expect(await alone.search('ocean view', 3)).toEqual(before);
    expect(idsOf(before)).toEqual(['a', 'b']);
    await crowd.dispose();
    await alone.dispose();
    await backend.close();
  });

  it.each(['unicode61', 'porter', 'trigram'] as const)('takes any text as a query (%s)', async (tokenizer) => {
    const backend = await create({ file: ':memory:', tokenizer });
    const scope = await scopeOf(backend, [...pool, fact('ops', 'AND OR NOT NEAR hotel'), fact('q', 'say "hotel" now')]);
    const hostile = [
      '"',
      '""hotel',
      "hotel' OR 1=1 --",
      'hotel AND NOT',
      'NEAR(hotel ocean, 2)',
      'text : hotel',
      '{text} : hotel',
      '-hotel ^hotel +hotel',
      'hotel*',
      '(((hotel',
      'hotel\0ocean \ud800',
      `${'hotel '.repeat(50_000)}`,
      Array.from({ length: 20_000 }, (_, i) => `word${i}`).join(' '),
    ];
    for (const query of hostile) {
      const ids = idsOf(await scope.search(query, 20));
      if (query.includes('hotel')) expect(ids).toContain('ops');
    }
    // An operator is a word like any other.
    expect(idsOf(await scope.search('NEAR', 5))).toEqual(['ops']);
    expect(idsOf(await scope.search('the of and', 5))).toEqual([]);
    await backend.close();
  });

  it('keeps every text as it is, also what SQLite and UTF-8 cannot', async () => {
    const backend = await create({ file: ':memory:' });
    const texts = ['one\0two', 'half \ud83d of a smile', 'quote \' and "', '', '\u202eltr'];
    const scope = await scopeOf(
      backend,
      texts.map((text, i) => fact(`t${i}`, text)),
    );
    expect((await scope.list()).map(({ text }) => text)).toEqual(texts);
    expect(idsOf(await scope.search('two', 1))).toEqual(['t0']);
    await backend.close();
  });

  it('finds by what its tokenizer knows of a script', async () => {
    const facts = [
      fact('cjk', '名前: 東京太郎'),
      fact('hindi', 'नाम: हिन्दी में'),
      fact('accent', 'Name: Zoe\u0308 Müller'),
      fact('stem', 'Bookings: two rooms'),
      fact('camel', 'CheckInDate: May'),
    ];
    const found = async (tokenizer: SqliteOptions['tokenizer'], query: string) => {
      const backend = await create({ file: ':memory:', tokenizer });
      const ids = idsOf(await (await scopeOf(backend, facts)).search(query, 5));
      await backend.close();
      return ids;
    };
    expect(await found('unicode61', 'Zoë muller')).toEqual(['accent']);
    expect(await found('unicode61', 'हिन्दी')).toEqual(['hindi']);
    expect(await found('unicode61', 'booking a room')).toEqual([]);
    expect(await found('porter', 'booking a room')).toEqual(['stem']);
    // A script without spaces is one long word, which only trigrams see into.
    expect(await found('unicode61', '東京太郎さんの予約')).toEqual([]);
    expect(await found('trigram', '東京太郎さんの予約')).toEqual(['cjk']);
    expect(await found('trigram', 'zoe')).toEqual(['accent']);
    expect(await found('trigram', 'date of the check-in')).toEqual(['camel']);
  });

  it.each([
    ['Book a room, please!', 'unicode61', '"book" OR "room" OR "please"'],
    ['room ROOM Room', 'porter', '"room"'],
    ['go to 東京太郎 now', 'trigram', '"東京太" OR "京太郎" OR "now"'],
    ['東京', 'trigram', undefined],
    ['?! "" *', 'unicode61', undefined],
  ] as const)('asks FTS5 for the words of %j (%s)', (query, tokenizer, expected) => {
    expect(fullTextQuery(query, tokenizer)).toBe(expected);
  });
});

describe('sqlite: the file', () => {
  const named = async () => join(await tempFolder(), 'deep', 'memory.sqlite');
  const leftBeside = async (file: string) => (await readdir(join(file, '..'))).sort();

  it('holds facts while their scope lives, and no trace of them afterwards', async () => {
    const file = await named();
    const backend = await create({ file });
    const scope = await scopeOf(backend, [fact('s', 'Diagnosis: marzipan intolerance')]);
    expect((await readFile(file)).includes('marzipan')).toBe(true);
    await scope.dispose();
    expect((await readFile(file)).includes('marzipan')).toBe(false);
    await backend.close();
    expect((await readFile(file)).includes('marzipan')).toBe(false);
    expect(await leftBeside(file)).toEqual(['memory.sqlite', 'memory.sqlite-journal']);
  });

  it('leaves nothing where none is named', async () => {
    const { tmpdir } = await import('node:os');
    const ours = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('heams-sqlite-'));
    const before = await ours();
    const backend = await create();
    const [made] = (await ours()).filter((name) => !before.includes(name));
    expect(made).toBeDefined();
    await scopeOf(backend, pool);
    await backend.close();
    expect(await ours()).not.toContain(made);
  });

  it('is shared by the backends of one process, under whatever name', async () => {
    const file = await named();
    const first = await create({ file });
    const link = join(await tempFolder(), 'link.sqlite');
    await symlink(file, link);
    const second = await create({ file: link, tokenizer: 'trigram' });
    // Two arms may have a scope of the same name.
    const [a, b] = [await scopeOf(first, [fact('a', 'alpha')]), await scopeOf(second, [fact('b', 'beta')])];
    expect(idsOf(await a.search('alpha beta', 5))).toEqual(['a']);
    expect(idsOf(await b.search('alpha beta', 5))).toEqual(['b']);
    await a.dispose();
    await first.close();
    expect((await b.list()).length).toBe(1);
    await b.dispose();
    const closed = second.close();
    // Opened again while it is being closed.
    const [third] = await Promise.all([create({ file }), closed]);
    await (await scopeOf(third, pool)).dispose();
    await third.close();
  });

  it('keeps 16 scopes at once apart, over many samples', async () => {
    const backend = await create({ file: await named() });
    let next = 0;
    const worker = async () => {
      for (let i = next++; i < 160; i = next++) {
        const scope = await backend.open(`s${i}`, fakeCall());
        await Promise.all([scope.write([fact('own', `common word of ${i}`)]), scope.write([fact('two', `two ${i}`)])]);
        const items = (await scope.search('common word two', 9)).items.map(({ text }) => text);
        expect(items.sort()).toEqual([`common word of ${i}`, `two ${i}`]);
        await scope.dispose();
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    await backend.close();
  });

  const child = (file: string) =>
    childModule(`
      const { sqlite } = await import('./src/memory/sqlite.ts');
      const { fakePluginContext } = await import('./test/support/plugin-context.ts');
      const { fakeCall } = await import('./test/support/fake-call.ts');
      const options = sqlite.schema.parse({ backend: 'sqlite', file: ${JSON.stringify(file)} });
      try {
        const backend = await sqlite.create(options, fakePluginContext());
        const scope = await backend.open('again', fakeCall());
        await scope.write([{ id: 'f0', key: 'k', text: 'marzipan of the other process' }]);
        console.log((await scope.list()).length);
      } catch (error) {
        console.log(error.code + ' ' + error.describe().replaceAll('\\n', ' '));
      }
    `);

  it('has one process at a time; a second one is told who has it', async () => {
    const file = await named();
    const owner = child(file);
    expect(await owner.line()).toBe('1');
    const mine = await heamsErrorOf(create({ file }));
    expect(mine.code).toBe('memory_file_in_use');
    expect(mine.found).toContain(`process ${owner.process.pid}`);

    await owner.kill();
    // What a killed process leaves: its lock of the file, SQLite's lock, and its facts.
    expect(existsSync(`${file}.lock`) && existsSync(`${file}.heams`)).toBe(true);
    const backend = await create({ file });
    const scope = await backend.open('again', fakeCall());
    expect(await scope.list()).toEqual([]);
    expect((await scope.search('marzipan', 3)).items).toEqual([]);
    expect((await readFile(file)).includes('marzipan')).toBe(false);

    const other = child(file);
    expect(await other.line()).toContain('memory_file_in_use');
    await other.kill();
    await scope.dispose();
    await backend.close();
  });

  it('starts anew where a killed process left a transaction half written', async () => {
    const file = await named();
    const first = await create({ file });
    await first.close();
    const torn = childModule(`
      const { Database } = (await import('node-sqlite3-wasm')).default;
      const db = new Database(${JSON.stringify(file)});
      db.exec('PRAGMA cache_size = 1; BEGIN');
      db.run('INSERT INTO scopes (name) VALUES (?)', ['torn']);
      for (let i = 0; i < 500; i++) db.run('INSERT INTO facts VALUES (1, ?, ?)', [i, 'torn '.repeat(200)]);
      console.log('writing');
    `);
    expect(await torn.line()).toBe('writing');
    await torn.kill();
    expect((await readFile(`${file}-journal`)).length).toBeGreaterThan(0);
    const backend = await create({ file });
    const scope = await scopeOf(backend, pool);
    expect((await scope.list()).length).toBe(pool.length);
    expect((await readFile(file)).includes('torn torn')).toBe(false);
    await backend.close();
  });

  it('refuses what is not its own, and says what it cannot use', async () => {
    const folder = await tempFolder();
    const other = join(folder, 'letters.txt');
    await writeFile(other, 'Dear Zoë');
    const foreign = await heamsErrorOf(create({ file: other }));
    expect(foreign.code).toBe('memory_file_foreign');
    expect(await readFile(other, 'utf8')).toBe('Dear Zoë');
    expect(await readdir(folder)).toEqual(['letters.txt']);

    await mkdir(join(folder, 'a-folder'));
    expect((await heamsErrorOf(create({ file: join(folder, 'a-folder') }))).code).toBe('memory_file_unusable');
    expect((await heamsErrorOf(create({ file: join(other, 'below.sqlite') }))).code).toBe('memory_file_unusable');
  });
});

describe('sqlite files', () => {
  const resolve = (path: string) => `/configs/${path}`;
  const parse = (file: object) => sqlite.schema.parse({ backend: 'sqlite', ...file });

  it('name the same file wherever they are read, and the same arm whatever the file', () => {
    expect(sqlite.inlined?.(parse({ file: 'a.sqlite' }), resolve).file).toBe('/configs/a.sqlite');
    expect(sqlite.inlined?.(parse({ file: ':memory:' }), resolve).file).toBe(':memory:');
    expect(sqlite.inlined?.(parse({}), resolve)).toEqual({ backend: 'sqlite', top_k: 5, tokenizer: 'unicode61' });
    expect(sqlite.identity?.(parse({ file: 'a.sqlite' }))).toEqual(sqlite.identity?.(parse({})));
    expect(sqlite.identity?.(parse({ tokenizer: 'porter' }))).toMatchObject({ tokenizer: 'porter', top_k: 5 });
  });
});
