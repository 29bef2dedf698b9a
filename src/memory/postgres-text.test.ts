import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { freePort, type PostgresServer, postgresIsHere, startPostgres } from '../../test/support/postgres.ts';
import type { MemoryBackend, MemoryScope } from '../contracts/memory.ts';
import type { HeamsError } from '../lib/errors.ts';
import type { Fact } from '../schema/record.ts';
import { pgvector } from './pgvector.ts';
import { type PostgresTextOptions, postgresText } from './postgres-text.ts';

const fact = (id: string, text: string, more: Partial<Fact> = {}): Fact => ({ id, key: id, text, ...more });
const options = (more: object): PostgresTextOptions => postgresText.schema.parse({ backend: 'postgres_text', ...more });
const ids = async (scope: MemoryScope, query: string, k = 9) =>
  (await scope.search(query, k)).items.flatMap(({ fact_ids }) => fact_ids);

// Root is refused by the server, so that it is run as the user "postgres": both have to be here.
describe.skipIf(!postgresIsHere)('postgres_text on a PostgreSQL server (skipped where none is installed)', () => {
  let server: PostgresServer;
  let admin: pg.Client;
  const backends: MemoryBackend[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Client({ connectionString: server.url() });
    await admin.connect();
  }, 120_000);
  afterAll(async () => {
    for (const backend of backends) await backend.close();
    await admin.end();
    await server.stop();
  });

  async function create(more: object = {}, url = server.url()): Promise<MemoryBackend> {
    const context = { ...fakePluginContext(), env: { PG_URL: url, PG_PASSWORD: server.password } };
    const where = 'url' in more ? {} : { url_env: 'PG_URL' };
    const backend = await postgresText.create(options({ ...where, ...more }), context);
    backends.push(backend);
    return backend;
  }

  memoryContract('postgres_text', () => create(), {
    capabilities: {
      stores: true,
      rewrites: false,
      provenance: true,
      honours_k: true,
      needs_network: true,
      needs_key: false,
    },
  });

  describe('search', () => {
    it('finds what shares any word of a long task, in any form of it, and nothing else', async () => {
      const scope = await (await create()).open('words', fakeCall());
      await scope.write([
        fact('a', 'Dietary needs: vegetarian meals'),
        fact('b', 'Passport: P1234567'),
        fact('c', 'Bookings: two rooms were booked'),
      ]);
      expect(await ids(scope, 'Please write to the hotel, book a room and mention the meal')).toEqual(['c', 'a']);
      expect(await ids(scope, 'the and of')).toEqual([]);
      await scope.dispose();
    });

    it('ranks by how often the words of the query occur, and gives that as the score', async () => {
      const scope = await (await create()).open('ranks', fakeCall());
      await scope.write([fact('once', 'dog'), fact('twice', 'dog, dog'), fact('never', 'cat')]);
      const { items } = await scope.search('dogs', 5);
      // ts_rank_cd: each occurrence of a word without a weight of its own adds 0.1.
      expect(items.map(({ fact_ids, score }) => [fact_ids[0], Number(score?.toFixed(6))])).toEqual([
        ['twice', 0.2],
        ['once', 0.1],
      ]);
      await scope.dispose();
    });

    it('takes quotes, operators and NUL in a query as words', async () => {
      const scope = await (await create()).open('signs', fakeCall());
      // A URL is one word, quotes and all.
      await scope.write([fact('a', "See http://x.org/?q='a'&b=c"), fact('b', "O'Brien | other & !cat:*")]);
      expect(await ids(scope, "http://x.org/?q='a'&b=c")).toEqual(['a']);
      expect(await ids(scope, "'; DROP TABLE heams_texts; -- !other\0cat:* \\")).toEqual(['b']);
      expect((await scope.list()).length).toBe(2);
      await scope.dispose();
    });

    it('knows the language that it is told', async () => {
      const words = [fact('a', 'Die Häuser')];
      const german = await (await create({ language: 'german' })).open('german', fakeCall());
      await german.write(words);
      expect(await ids(german, 'Haus')).toEqual(['a']);
      const simple = await (await create({ language: 'simple' })).open('simple', fakeCall());
      await simple.write(words);
      expect(await ids(simple, 'Haus')).toEqual([]);
      expect(await ids(simple, 'die')).toEqual(['a']);
      const error = await heamsErrorOf((await create({ language: 'klingon' })).open('x', fakeCall()));
      expect(error.code).toBe('memory_language_missing');
      expect(error.expected).toContain('english');
    });
  });

  describe('the table', () => {
    it('is made once, however many begin at the same moment', async () => {
      const many = await Promise.all(
        Array.from({ length: 8 }, () => create({ schema: 'Fresh', table: 'Notes', pool_size: 2 })),
      );
      const scopes = await Promise.all(many.map((backend, i) => backend.open(`start-${i}`, fakeCall())));
      await Promise.all(scopes.map((scope, i) => scope.write([fact(`f${i}`, `fact ${i}`)])));
      expect(await Promise.all(scopes.map((scope) => ids(scope, 'fact')))).toEqual(scopes.map((_, i) => [`f${i}`]));
      const { rows } = await admin.query('SELECT count(*)::int AS n FROM "Fresh"."Notes"');
      expect(rows).toEqual([{ n: 8 }]);
      await Promise.all(scopes.map((scope) => scope.dispose()));
    });

    it('keeps when and where a fact was told', async () => {
      const scope = await (await create({ table: 'told' })).open('told', fakeCall());
      await scope.write([fact('a', 'one', { at: '2025-03-01T10:00:00Z', session: 's1' }), fact('b', 'two')]);
      const { rows } = await admin.query('SELECT fact_id, told_at, session FROM told ORDER BY seq');
      expect(rows).toEqual([
        { fact_id: 'a', told_at: new Date('2025-03-01T10:00:00Z'), session: 's1' },
        { fact_id: 'b', told_at: null, session: null },
      ]);
      await scope.dispose();
      expect((await admin.query('SELECT FROM told')).rowCount).toBe(0);
    });

    it('of somebody else is left alone', async () => {
      await admin.query('CREATE TABLE theirs (name text)');
      const error = await heamsErrorOf((await create({ table: 'theirs' })).open('x', fakeCall()));
      expect(error.code).toBe('memory_table_unsuitable');
      expect((await admin.query('SELECT * FROM theirs')).rowCount).toBe(0);
    });

    it('may be used by who may not make one', async () => {
      await (await create({ table: 'granted' })).open('x', fakeCall());
      await admin.query(`CREATE USER guest PASSWORD 'guest'; GRANT ALL ON granted TO guest`);
      const guest = server.url().replace(/\/\/.*@/, '//guest:guest@');
      const scope = await (await create({ table: 'granted' }, guest)).open('guest', fakeCall());
      await scope.write([fact('a', 'one')]);
      expect(await ids(scope, 'one')).toEqual(['a']);
      const error = await heamsErrorOf((await create({ table: 'forbidden' }, guest)).open('x', fakeCall()));
      expect(error.code).toBe('memory_permission');
    });
  });

  describe('scopes', () => {
    it('never mix, sixteen at once over four connections', async () => {
      const backend = await create({ pool_size: 4 });
      const one = async (i: number) => {
        const scope = await backend.open(`many-${i}`, fakeCall());
        await scope.write([fact(`a${i}`, `canary ${i} first`), fact(`b${i}`, `canary ${i} second`)]);
        const found = await ids(scope, 'canary', 100);
        const listed = (await scope.list()).flatMap(({ fact_ids }) => fact_ids);
        await scope.dispose();
        return [found, listed];
      };
      const found = await Promise.all(Array.from({ length: 16 }, (_, i) => one(i)));
      const own = Array.from({ length: 16 }, (_, i) => [`a${i}`, `b${i}`]);
      expect(found).toEqual(own.map((pair) => [pair, pair]));
    });

    it('open empty where a killed run left facts behind', async () => {
      const killed = await (await create({ table: 'left' })).open('same', fakeCall());
      await killed.write([fact('old', 'one')]);
      const resumed = await (await create({ table: 'left' })).open('same', fakeCall());
      expect(await resumed.list()).toEqual([]);
      expect(await ids(resumed, 'one')).toEqual([]);
      expect((await admin.query('SELECT FROM "left"')).rowCount).toBe(0);
    });

    it('that another process took over are an error, never an empty memory', async () => {
      const mine = await (await create()).open('shared', fakeCall());
      await mine.write([fact('a', 'one')]);
      const theirs = await (await create()).open('shared', fakeCall());
      await theirs.write([fact('a', 'one')]);
      expect((await heamsErrorOf(mine.search('one', 3))).code).toBe('memory_scope_taken');
      expect((await heamsErrorOf(mine.search('nothing', 3))).code).toBe('memory_scope_taken');
      expect((await heamsErrorOf(mine.list())).code).toBe('memory_scope_taken');
      await mine.dispose();
      expect(await ids(theirs, 'one')).toEqual(['a']);
      await theirs.dispose();
    });
  });

  describe('texts that PostgreSQL cannot keep', () => {
    it.each([
      ['NUL', 'a\0b', 'a U+0000'],
      ['half a surrogate pair', 'a\ud83d', 'half of a surrogate pair'],
    ])('are refused in words, and none of the batch is stored (%s)', async (_name, text, found) => {
      const scope = await (await create()).open('texts', fakeCall());
      const error = await heamsErrorOf(scope.write([fact('good', 'good'), fact('bad', text)]));
      expect(error.code).toBe('memory_text_refused');
      expect(error.found).toBe(`${found} in "bad"`);
      expect(await scope.list()).toEqual([]);
      await scope.write([fact('pair', 'a \u{1f600} b')]);
      expect((await scope.list()).map(({ text: kept }) => kept)).toEqual(['a \u{1f600} b']);
      await scope.dispose();
    });
  });

  describe('what goes wrong is told in words, without a password', () => {
    const secret = 'hunter2-secret';
    const at = (place: string) => `postgresql://heams:${secret}@${place}`;
    const failing = async (url: string, more: object = {}) =>
      heamsErrorOf((await create(more, url)).open('x', fakeCall()));
    const everything = (error: HeamsError) => [error.describe(), error.stack, JSON.stringify(error)].join('\n');

    it('a password that is wrong', async () => {
      const error = await failing(at(`127.0.0.1:${server.port}/postgres`));
      expect(error.code).toBe('memory_auth_failed');
      expect(error.cause).toBeUndefined();
      expect(everything(error)).not.toContain(secret);
    });

    it('a database that is not there', async () => {
      const error = await failing(server.url('nowhere'));
      expect(error.code).toBe('memory_database_missing');
      expect(error.message).toBe('the PostgreSQL server has no such database: the address in PG_URL');
      expect(everything(error)).not.toContain(server.password);
    });

    it('a server that is down', async () => {
      const port = await freePort();
      const url = `postgresql://heams:\${PG_PASSWORD}@127.0.0.1:${port}/postgres`;
      const error = await failing('', { url });
      expect(error.code).toBe('memory_unreachable');
      expect(error.message).toContain(`127.0.0.1:${port}/postgres`);
      expect(error.found).toBe('ECONNREFUSED');
      expect(everything(error)).not.toContain(server.password);
    });

    it('an address that is none', async () => {
      for (const url of ['heams', 'https://example.org', `postgresql://a:${secret}@[::/x`]) {
        const error = await heamsErrorOf(create({}, url));
        expect(error.code).toBe('memory_bad_address');
        expect(everything(error)).not.toContain(secret);
        expect(error.cause).toBeUndefined();
      }
      const error = await heamsErrorOf(postgresText.create(options({ url_env: 'PG_URL' }), fakePluginContext()));
      expect(error.code).toBe('missing_variable');
    });

    it('a server without pgvector', async () => {
      const context = { ...fakePluginContext(), env: { PG_URL: server.url() } };
      const backend = await pgvector.create(pgvector.schema.parse({ backend: 'pgvector', url_env: 'PG_URL' }), context);
      const error = await heamsErrorOf(backend.open('x', fakeCall()));
      expect(error.code).toBe('memory_extension_missing');
      expect(error.describe()).toContain('postgres_text');
      await backend.close();
    });

    it('a connection that is lost: the next one is a new one', async () => {
      const scope = await (await create({ pool_size: 1 })).open('lost', fakeCall());
      await scope.write([fact('a', 'one')]);
      const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'heams'`;
      await admin.query(end);
      const first = await scope.search('one', 1).catch((error: { code: string }) => error.code);
      if (typeof first === 'string') expect(first).toBe('memory_unreachable');
      expect(await ids(scope, 'one')).toEqual(['a']);
      await scope.dispose();
    });

    it('a server that goes down in between', { timeout: 120_000 }, async () => {
      const other = await startPostgres();
      const backend = await create({}, other.url());
      const scope = await backend.open('down', fakeCall());
      await scope.write([fact('a', 'one')]);
      await other.stop();
      for (const work of [() => scope.search('one', 1), () => scope.list(), () => scope.dispose()]) {
        expect((await heamsErrorOf(work())).code).toBe('memory_unreachable');
      }
      await backend.close();
    });
  });

  it('finds its password by reference, whatever characters are in it', async () => {
    const url = `postgresql://heams:\${PG_PASSWORD}@127.0.0.1:${server.port}/postgres`;
    const scope = await (await create({ url })).open('reference', fakeCall());
    await scope.write([fact('a', 'one')]);
    expect(await ids(scope, 'one')).toEqual(['a']);
    await scope.dispose();
  });
});

describe('postgres files', () => {
  const problems = (file: object) =>
    (postgresText.schema.safeParse({ backend: 'postgres_text', ...file }).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );

  it('name one address', () => {
    expect(problems({})[0]).toMatch(/^url: one of url and url_env/);
    expect(problems({ url: 'postgresql://h/d', url_env: 'X' })[0]).toMatch(/^url_env: one of/);
    expect(problems({ url: 'mysql://h/d' })[0]).toMatch(/^url: an address like postgresql:/);
    expect(problems({ url: 'postgresql:///d' })[0]).toMatch(/^url: an address that names a host/);
    expect(problems({ url_env: 'postgresql://h/d' })[0]).toMatch(/not the address itself/);
    for (const url of [
      'postgresql://h/d',
      'postgres://me@h:5433/d?sslmode=verify-full',
      `postgresql://\${ME}:\${PASSWORD}@h/d`,
      'postgresql:///d?host=/var/run/postgresql',
    ]) {
      expect(problems({ url })).toEqual([]);
    }
  });

  it('hold no password', () => {
    for (const url of [
      'postgresql://me:hunter2@h/d',
      `postgresql://me:x\${REST}@h/d`,
      'postgresql://me@h/d?password=hunter2',
    ]) {
      expect(problems({ url })).toEqual([expect.stringContaining('the password stands in the environment')]);
      expect(problems({ url })[0]).not.toContain('hunter2');
    }
  });

  it('take plain names for what is made in the database', () => {
    expect(problems({ url: 'postgres://h/d', table: 'a"; DROP TABLE x; --' })[0]).toMatch(/^table: letters/);
    expect(problems({ url: 'postgres://h/d', language: "english'" })[0]).toMatch(/^language: /);
  });

  it('say what they need, and keep the place out of what can change an outcome', () => {
    const url = `postgresql://\${ME}:\${PASSWORD}@db.example.org:5433/d?sslmode=verify-full`;
    const role = 'the address of the PostgreSQL server';
    expect(postgresText.requires?.(options({ url }))).toEqual([
      { kind: 'package', name: 'pg', install: 'pg@8' },
      { kind: 'variable', name: 'ME', path: ['url'], role },
      { kind: 'variable', name: 'PASSWORD', path: ['url'], role },
      { kind: 'server', url: 'postgresql://db.example.org:5433/d', path: ['url'] },
    ]);
    expect(postgresText.requires?.(options({ url_env: 'DB' }))?.[1]).toEqual({
      kind: 'variable',
      name: 'DB',
      path: ['url_env'],
      role,
    });
    expect(postgresText.identity?.(options({ name: 'x', url, table: 't', top_k: 3 }))).toEqual({
      backend: 'postgres_text',
      top_k: 3,
      language: 'english',
    });
  });
});
