import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { overStdio } from '../../../test/support/mcp-memory.ts';
import { packageRoot } from '../../lib/shipped.ts';
import { checkTemplate } from '../../lib/template.ts';
import { mcp } from '../mcp.ts';
import { settingsOf } from './options.ts';
import { PathMiss, parsePath, type ReplyPath, select, selectList } from './path.ts';
import { Sources } from './sources.ts';
import { render } from './structure.ts';
import { queryWords } from './words.ts';

describe('a path into a reply', () => {
  const reply = { entities: [{ o: ['a', 'b'] }, { o: ['c'] }], 'a.b': { '"': 1 }, empty: [] };
  const at = (text: string) => select(reply, parsePath(text) as ReplyPath);

  it.each([
    ['entities[].o[]', ['a', 'b', 'c']],
    ['entities[].o[0]', ['a', 'c']],
    ['entities[1].o', [['c']]],
    ['["a.b"]["\\""]', [1]],
    ['empty[]', []],
    ['', [reply]],
  ])('%j leads to its place', (text, expected) => {
    expect(at(text)).toEqual(expected);
  });

  it('is refused where it is none', () => {
    for (const text of ['a..b', '.a', 'a.', 'a[', 'a[x]', 'a b', 'a[-1]', '$.["a]'])
      expect(parsePath(text)).toBeUndefined();
  });

  it.each([
    ['entities[].p', '"entities[].p" is not there: entities[] is an object with o'],
    ['entities[1].o[4]', '"entities[1].o[4]" is not there: entities[1].o is a list of 1'],
    ['entities.o', '"entities.o" is not there: entities is a list of 2'],
    ['__proto__', '"__proto__" is not there: it is an object with entities, a.b, empty'],
  ])('%j says how far it leads', (text, message) => {
    expect(() => at(text)).toThrow(new PathMiss(message));
  });

  it('gives a list where one is asked for', () => {
    expect(selectList(reply, parsePath('entities') as ReplyPath)).toHaveLength(2);
    expect(selectList(['x'], parsePath('') as ReplyPath)).toEqual(['x']);
    expect(() => selectList(reply, parsePath('["a.b"]') as ReplyPath)).toThrow(
      '"["a.b"]" is an object with " and no list',
    );
  });
});

describe('arguments', () => {
  const fact = { id: 'f0', name: 'Age', text: '42' };

  it('keep the type of a variable that stands alone, and are text otherwise', () => {
    const given = {
      k: '{{ k }}',
      text: '{{fact.text}}',
      both: '{{ k }}: {{ fact.name }}',
      fixed: [true, 1, null, 'x'],
    };
    expect(render(given, { k: 3, fact })).toEqual({ k: 3, text: '42', both: '3: Age', fixed: [true, 1, null, 'x'] });
  });

  it('have an element for each fact or item', () => {
    const given = { list: { $each_fact: { n: '{{ fact.name }}', s: '{{ scope }}' } } };
    expect(render(given, { facts: [fact, { ...fact, name: 'B' }], scope: 'x' })).toEqual({
      list: [
        { n: 'Age', s: 'x' },
        { n: 'B', s: 'x' },
      ],
    });
    expect(render({ $each_item: '{{ item.name }}' }, { items: [] })).toEqual([]);
  });

  it('are never read as templates where they come from a fact', () => {
    const hostile = '{{ k }} {% include "/etc/passwd" %}';
    expect(render('{{ fact.text }}', { fact: { text: hostile }, k: 1 })).toBe(hostile);
    expect(render('> {{ fact.text }}', { fact: { text: hostile }, k: 1 })).toBe(`> ${hostile}`);
  });

  it('fail where a variable is not there', () => {
    expect(() => render('{{ item.nmae }}', { item: {} })).toThrow(
      '"{{ item.nmae }}" cannot be filled: undefined variable',
    );
  });
});

describe('the words of a query', () => {
  it('are looked for once each, without those that say nothing', () => {
    expect(queryWords("Book the room at Zoë's hotel for 2 in room 12, a suite!")).toEqual([
      ...['book', 'room', 'zoë', 'hotel', '12', 'suite'],
    ]);
    expect(queryWords('東京に泊まる hotel')).toEqual(['東京', '京に', 'に泊', '泊ま', 'まる', 'hotel']);
    expect(queryWords(' ?! a')).toEqual([]);
  });
});

describe('the facts that texts came from', () => {
  const sources = new Sources();
  const facts = [
    { id: 'a', key: 'Chat', text: 'Chat: "hi"\nbye' },
    { id: 'b', key: 'Chat', text: 'same' },
    { id: 'c', key: 'Chat (2)', text: 'same' },
  ];

  it('have names of their own in a scope', () => {
    expect(sources.add(facts).map(({ name }) => name)).toEqual(['Chat', 'Chat (2)', 'Chat (2) (2)']);
  });

  it('are told by their text, equal ones in order, and nobody else has one', () => {
    expect(sources.ofTexts(['same', 'other', 'same', 'same']).map((fact) => fact?.id)).toEqual([
      'b',
      undefined,
      'c',
      undefined,
    ]);
  });

  it('are found in JSON and in plain words', () => {
    const ids = (text: string) => sources.shownIn([text]).map(({ id }) => id);
    expect(ids(JSON.stringify([{ note: `> ${facts[0]?.text}` }]))).toEqual(['a']);
    expect(ids('it is the same')).toEqual(['b', 'c']);
    expect(ids('hi')).toEqual([]);
  });
});

describe('a memory file', () => {
  const problems = (file: object) =>
    (mcp.schema.safeParse({ backend: 'mcp', ...file }).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );
  const file = overStdio();

  it.each<[string, object, string]>([
    ['a server', {}, 'command: a command to start, a url, or a preset'],
    ['one server', { ...file, url: 'http://a' }, 'url: either command or url'],
    ['a known preset', { preset: 'server-memroy' }, 'preset: Invalid input: expected "server-memory"'],
    ['a write tool', { ...file, write: undefined }, 'write: which tool writes a fact'],
    [
      'a list tool',
      { ...file, list: undefined },
      'list: which tool gives all that is stored: what was kept is read back',
    ],
    ['a search tool', { ...file, search: undefined }, 'search: which tool searches, or agent_tools'],
    [
      'a clear tool for reuse',
      { ...file, clear: undefined, reuse_processes: true },
      'clear: which tool clears: a process is used again only once it was cleared',
    ],
    [
      'a clear tool for a shared server',
      { ...file, clear: undefined, isolation: 'argument' },
      'clear: which tool clears a scope: with isolation: argument nothing else removes it',
    ],
    [
      'the scope in the search of a shared server',
      { ...file, isolation: 'argument', search: { ...file.search, arguments: { query: '{{ query }}' } } },
      'search: with isolation: argument every tool needs an argument with {{ scope }}, or scopes would mix',
    ],
    [
      'the scope in the clear tool of a shared server, which would empty the scopes of others',
      { ...file, isolation: 'argument', clear: { tool: 'forget', arguments: {} } },
      'clear: with isolation: argument it needs an argument with {{ scope }}, or the items to clear: it would empty the scopes of others',
    ],
    [
      'the scope in the tools of the agent',
      { ...file, isolation: 'argument', agent_tools: ['recall'] },
      'agent_tools.0: with isolation: argument every tool needs an argument with {{ scope }}, or scopes would mix',
    ],
    [
      'an address without a password',
      { ...file, command: undefined, args: undefined, url: 'http://u:p@a' },
      'url: no user, password or fragment in it; put a key into headers, as a reference',
    ],
    [
      'processes of its own for them',
      { ...file, command: undefined, args: undefined, url: 'http://a', isolation: 'process' },
      'isolation: a server behind a url is no process of ours',
    ],
    [
      'references for secrets',
      { ...file, env: { API_KEY: 'sk-12345678' } },
      `env.API_KEY: a secret is no part of a config file: write \${API_KEY} and set it in the environment`,
    ],
    [
      'batches for lists of facts',
      { ...file, write: { tool: 'x', arguments: { l: { $each_fact: 'x' } } } },
      'write.batch: $each_fact needs batch: all',
    ],
    [
      'paths that are paths',
      { ...file, list: { ...file.list, items: 'a..b' } },
      'list.items: a path such as entities[].observations[0]; the empty path is the whole reply',
    ],
  ])('needs %s', (_what, given, expected) => {
    expect(problems(given)).toContain(expected);
  });

  it('is taken as it is meant', () => {
    expect(problems(file)).toEqual([]);
    expect(problems({ ...file, isolation: 'argument' })).toEqual([]);
    expect(problems({ preset: 'server-memory' })).toEqual([]);
    expect(problems({ ...file, tols: 1 })[0]).toContain('"tols"');
  });

  it('says where a template uses what there is not', () => {
    const options = mcp.schema.parse({ ...file, search: { ...file.search, arguments: { a: [{ q: '{{ qury }}' }] } } });
    const uses = mcp.templates?.(options, []) ?? [];
    const bad = uses.filter(({ source, variables }) => checkTemplate(source, variables).length > 0);
    expect(bad).toEqual([
      { path: ['search', 'arguments', 'a', 0, 'q'], source: '{{ qury }}', variables: ['query', 'k', 'scope'] },
    ]);
  });

  it('says what it needs', () => {
    const sdk = { kind: 'package', name: '@modelcontextprotocol/sdk', install: '@modelcontextprotocol/sdk@1' };
    const needs = (given: object) => mcp.requires?.(mcp.schema.parse({ backend: 'mcp', ...given }));
    expect(needs({ preset: 'server-memory' })).toEqual([
      sdk,
      { kind: 'package', name: '@modelcontextprotocol/server-memory', install: '@modelcontextprotocol/server-memory' },
    ]);
    expect(needs({ ...file, command: 'uvx', args: ['x'], env: { API_KEY: `\${MY_KEY}` } })).toEqual([
      sdk,
      { kind: 'program', name: 'uvx', path: ['command'] },
      { kind: 'variable', name: 'MY_KEY', path: ['env', 'API_KEY'], role: 'the MCP server' },
    ]);
    const { command: _c, args: _a, ...tools } = file;
    expect(needs({ ...tools, url: 'http://a', headers: { x: `\${MY_KEY}` } })).toEqual([
      sdk,
      { kind: 'server', url: 'http://a', path: ['url'] },
      { kind: 'variable', name: 'MY_KEY', path: ['headers', 'x'], role: 'a header for the MCP server' },
    ]);
  });

  it('is another arm where its tools are used otherwise, and the same where its server is elsewhere', () => {
    const { command: _c, args: _a, ...tools } = file;
    const identity = (given: object) => mcp.identity?.(mcp.schema.parse({ ...tools, url: 'http://a', ...given }));
    const text = JSON.stringify(identity({ headers: { key: 'value-of-a-key' } }));
    expect(text).not.toMatch(/http:|value-of-a-key/);
    expect(identity({ url: 'http://b', timeout_s: 3, max_concurrency: 1 })).toEqual(identity({}));
    expect(identity({ search: { ...file.search, per: 'word' } })).not.toEqual(identity({}));
    // A preset is written out: when HEAMS changes one, an earlier run is not continued with it.
    const preset = mcp.identity?.(mcp.schema.parse({ backend: 'mcp', preset: 'server-memory' }));
    expect(preset).toMatchObject({ write: { tool: 'create_entities' }, isolation: 'process' });
  });
});

describe('the preset', () => {
  it('is what the documentation writes out', async () => {
    const page = await readFile(join(packageRoot(), 'docs/memory-systems.md'), 'utf8');
    const block = /```yaml\n(# configs\/memory\/my_graph\.yaml[\s\S]*?)```/.exec(page)?.[1] ?? '';
    const written = settingsOf(mcp.schema.parse(parse(block)));
    const preset = settingsOf(mcp.schema.parse({ backend: 'mcp', preset: 'server-memory' }));
    for (const key of ['write', 'search', 'list', 'clear', 'env', 'isolation'] as const) {
      expect(written[key]).toEqual(preset[key]);
    }
  });
});
