import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { task } from '../../test/support/agent-contract.ts';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { llm } from '../agents/llm.ts';
import type { ChatModel, ChatRequest, ToolRequest } from '../contracts/model.ts';
import { scriptedModel } from '../models/scripted-model.ts';
import { guardedScope } from '../run/guarded-scope.ts';
import { prime } from '../run/prime.ts';
import type { Json } from '../schema/json.ts';
import type { Fact } from '../schema/record.ts';
import { fileMemory } from './file-memory.ts';

const clock = fakePluginContext().clock;
const create = (file: object = {}, model?: ChatModel) =>
  fileMemory.create(
    fileMemory.schema.parse({ backend: 'file_memory', ...file }),
    fakePluginContext(model ? { model } : {}),
  );

/** A backend that is closed with its test. */
async function opened(...given: Parameters<typeof create>) {
  const backend = await create(...given);
  onTestFinished(() => backend.close());
  return backend;
}

const capabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
};
const keeping = {
  write: 'model',
  llm: { model_id: 'openai:keeper' },
  system_prompt: 'Keep notes.',
  user_prompt: '{{ facts | json }}',
};

let requests = 0;
const use = (name: string, input: Json): ToolRequest => ({ id: `call${requests++}`, name, input });

/** Looks at the notes, then appends every fact that it was told, a line each, and is done. */
const diligent = () =>
  scriptedModel(({ messages }: ChatRequest) => {
    const facts = JSON.parse(messages[1]?.content ?? '[]') as { text: string }[];
    const answers = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    if (answers.length === 0) return { toolRequests: [use('view', { path: '/memories' })] };
    if (answers.length > 1) return 'done';
    const text = facts.map((fact) => `- ${fact.text.replaceAll('\n', ' / ')}\n`).join('');
    const fresh = answers[0]?.startsWith('There are no notes');
    return {
      toolRequests: [
        fresh
          ? use('create', { path: '/memories/user.md', file_text: text })
          : use('insert', { path: '/memories/user.md', insert_line: 0, insert_text: text }),
      ],
    };
  });

memoryContract('file_memory', () => create(), { capabilities });
memoryContract('file_memory kept by a model', () => create(keeping, diligent()), {
  capabilities: { ...capabilities, rewrites: true, needs_network: true, needs_key: true },
});

const toolOf = (
  scope: { tools?: readonly { spec: { name: string }; run(input: Json): Promise<unknown> }[] },
  name: string,
) => scope.tools?.find(({ spec }) => spec.name === name) as NonNullable<typeof scope.tools>[number];

describe('file_memory, verbatim', () => {
  it('writes every fact into one note, and shows which of them a view gave away', async () => {
    const folder = await tempFolder();
    const backend = await opened({ folder });
    const scope = await backend.open('s', fakeCall());
    await scope.write(pool);
    const [home] = await readdir(folder);
    const note = await readFile(join(folder, home as string, 'notes.md'), 'utf8');
    expect(note.split('\n').slice(0, 2)).toEqual(['- Name: Zoë Müller-Ødegård', '- CheckInDate: January 15, 2024']);
    expect(note).toContain('- Family chat: Mum: are you well?\n  Zoë: yes, the hotel is booked.\n');

    const all = await toolOf(scope, 'view').run({ path: '/memories/notes.md' });
    const everything = pool.map(({ id, text }) => ({ text, fact_ids: [id] }));
    expect(all).toMatchObject({ recall: { query: '/memories/notes.md', items: everything } });
    // The second line of a fact gives the fact away.
    const part = await toolOf(scope, 'view').run({ path: '/memories/notes.md', view_range: [7, 8] });
    expect(part).toMatchObject({ recall: { items: [{ fact_ids: ['f5'] }, { fact_ids: ['f6'] }] } });
    expect(await toolOf(scope, 'view').run({ path: '/memories' })).toEqual({
      content: 'Notes in /memories:\n/memories/notes.md (8 lines)',
    });
    await scope.dispose();
    expect(await readdir(folder)).toEqual([]);
  });

  it('lists and finds what is left after an agent changed its notes, and nothing that is no fact', async () => {
    const backend = await opened();
    const scope = await backend.open('s', fakeCall());
    await scope.write([
      { id: 'a', key: 'Dish', text: 'Dish: lasagne' },
      { id: 'b', key: 'Sport', text: 'Sport: rowing' },
    ]);
    await toolOf(scope, 'str_replace').run({ path: '/memories/notes.md', old_str: 'rowing', new_str: 'chess' });
    await toolOf(scope, 'create').run({ path: '/memories/own.md', file_text: 'Sport: my own thought\n' });
    await toolOf(scope, 'rename').run({ old_path: '/memories/notes.md', new_path: '/memories/old/n.md' });
    expect(await scope.list()).toEqual([{ text: 'Dish: lasagne', fact_ids: ['a'] }]);
    expect((await scope.search('sport', 5)).items).toEqual([]);
    expect(await toolOf(scope, 'view').run({ path: '/memories/own.md' })).toMatchObject({ recall: { items: [] } });
  });

  it('serves the llm agent with its own tools, and what was viewed is recalled', async () => {
    const backend = await opened();
    const facts: Fact[] = [{ id: 'f', key: 'Table', text: 'Table: by the window' }];
    const call = fakeCall();
    const guard = { capabilities: backend.capabilities, facts, timeoutS: 60, clock, signal: call.signal };
    const scope = guardedScope(await backend.open('s', call), guard);
    await prime(scope, facts, { ...guard, readyTimeoutS: 60 });
    const model = scriptedModel([
      { toolRequests: [use('view', { path: '/memories' })] },
      { toolRequests: [use('view', { path: '/memories/notes.md' }), use('search_memory', { query: 'x' })] },
      { toolRequests: [use('create', { path: '/memories/../x', file_text: 'x' })] },
      'A table by the window, please.',
    ]);
    const options = { kind: 'llm', model_id: 'openai:x', instructions: 'Write.', memory_strategy: 'tool' };
    const agent = await llm.create(llm.schema.parse(options), fakePluginContext({ model }));
    const memory = { scope, scopeId: 's', topK: 3, capabilities: backend.capabilities };
    const reply = await agent.respond(task, memory, call);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toContain('str_replace');
    expect(reply.recalls).toEqual([
      { query: '/memories/notes.md', items: [{ text: 'Table: by the window', fact_ids: ['f'] }] },
    ]);
    expect(reply.tool_calls.map(({ output }) => output.split('\n')[0])).toEqual([
      'Notes in /memories:',
      '/memories/notes.md with line numbers:',
      'No result: there is no tool "search_memory". The tools are view, create, str_replace, insert, delete, rename.',
      'Error: this path cannot be used: ".." is not a name.',
    ]);
    await scope.dispose();
  });

  it('keeps 16 scopes at once apart, and starts empty after a crash', async () => {
    const folder = await tempFolder();
    const backend = await opened({ folder });
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const scope = await backend.open(`s${i}`, fakeCall());
        await scope.write([{ id: 'own', key: 'k', text: `common word of ${i}` }]);
        const { items } = await scope.search('common word', 9);
        expect(items.map(({ text }) => text)).toEqual([`common word of ${i}`]);
        if (i > 0) await scope.dispose();
      }),
    );
    // The scope s0 was never disposed of.
    expect((await readdir(folder)).length).toBe(1);
    const again = await (await opened({ folder })).open('s0', fakeCall());
    expect(await again.list()).toEqual([]);
    expect((await readdir(folder)).length).toBe(1);
    await again.dispose();
    expect(await readdir(folder)).toEqual([]);
  });

  it('fails where its folder is gone or cannot be made, and is never just empty', async () => {
    const folder = await tempFolder();
    const backend = await opened({ folder });
    const scope = await backend.open('s', fakeCall());
    await scope.write(pool);
    await rm(join(folder, (await readdir(folder))[0] as string), { recursive: true });
    expect((await heamsErrorOf(scope.list())).code).toBe('memory_folder');
    expect((await heamsErrorOf(scope.search('hotel', 1))).code).toBe('memory_folder');
    await scope.dispose();
    await writeFile(join(folder, 'a-file'), '');
    expect((await heamsErrorOf(create({ folder: join(folder, 'a-file') }))).code).toBe('memory_folder');
  });

  it('refuses half a character, which no text file can hold', async () => {
    const scope = await (await opened()).open('s', fakeCall());
    const work = scope.write([{ id: 'a', key: 'k', text: 'half \ud83d' }]);
    expect((await heamsErrorOf(work)).code).toBe('memory_text_refused');
  });

  it('leaves nothing in the temporary folder', async () => {
    const ours = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('heams-notes-'));
    const before = await ours();
    const backend = await opened();
    const [made] = (await ours()).filter((name) => !before.includes(name));
    await (await backend.open('s', fakeCall())).write(pool);
    await backend.close();
    expect(made).toBeDefined();
    expect(await ours()).not.toContain(made);
  });
});

describe('file_memory, kept by a model', () => {
  const facts: Fact[] = [
    { id: 'a', key: 'Dish', text: 'Dish: lasagne', session: 's1', at: '2025-03-01T09:00:00Z' },
    { id: 'b', key: 'Pet', text: 'Pet: a cat', session: 's1', at: '2025-03-01T09:00:00Z' },
    { id: 'c', key: 'Sport', text: 'Sport: rowing', session: 's2', at: '2025-03-08T09:00:00Z' },
  ];

  it('tells it the facts session by session, and counts what it spends as priming', async () => {
    const model = diligent();
    const backend = await opened({ ...keeping, system_prompt: 'It is {{ at }}, {{ session }}.' }, model);
    const call = fakeCall({ stage: 'prime' });
    const scope = await backend.open('s', call);
    await scope.write(facts);
    expect(model.requests.filter(({ messages }) => messages.length === 2).map(({ messages }) => messages[0])).toEqual([
      { role: 'system', content: 'It is 2025-03-01T09:00:00Z, s1.' },
      { role: 'system', content: 'It is 2025-03-08T09:00:00Z, s2.' },
    ]);
    // Each session: look, write, done.
    expect(call.spent.prime.calls).toBe(6);
    expect(await scope.list()).toEqual([
      { text: 'Sport: rowing', fact_ids: ['c'] },
      { text: 'Dish: lasagne', fact_ids: ['a'] },
      { text: 'Pet: a cat', fact_ids: ['b'] },
    ]);
    expect((await scope.search('rowing', 1)).items).toMatchObject([{ text: 'Sport: rowing', fact_ids: ['c'] }]);
    // The name of a note says something too.
    expect(await toolOf(scope, 'view').run({ path: '/memories' })).toMatchObject({
      recall: { query: '/memories', items: [{ text: '/memories/user.md (3 lines)', fact_ids: [] }] },
    });
  });

  const failing = async (model: ChatModel, file: object = {}) => {
    const backend = await opened({ ...keeping, ...file }, model);
    const scope = await backend.open('s', fakeCall());
    const error = await heamsErrorOf(scope.write(facts));
    await scope.dispose();
    return error;
  };

  it('fails where its model is cut off, declines, or does not come to an end', async () => {
    expect((await failing(scriptedModel([{ text: 'I wi', finishReason: 'cut_off' }]))).code).toBe(
      'memory_model_cut_off',
    );
    expect((await failing(scriptedModel([{ text: 'No.', finishReason: 'refused' }]))).code).toBe(
      'memory_model_refused',
    );
    const restless = scriptedModel(() => ({ toolRequests: [use('view', { path: '/memories' })] }));
    const error = await failing(restless, { max_tool_calls: 3 });
    expect(error.code).toBe('memory_notes_unfinished');
    expect(restless.requests.length).toBe(4);
  });

  it('tells its model of a tool that there is not, and goes on', async () => {
    const model = scriptedModel([{ toolRequests: [use('memorise', {})] }, 'done', 'done']);
    const scope = await (await opened(keeping, model)).open('s', fakeCall());
    await scope.write(facts);
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(
      'Error: there is no tool "memorise". The tools are view, create, str_replace, insert, delete, rename.',
    );
    // Notes of nothing are a failure of priming, not an empty memory.
    const options = { capabilities: { ...capabilities, rewrites: true }, readyTimeoutS: 60, clock };
    const work = prime({ ...scope, write: async () => {}, ready: async () => {}, list: () => scope.list() }, facts, {
      ...options,
      signal: fakeCall().signal,
    });
    expect((await heamsErrorOf(work)).code).toBe('memory_lost_facts');
    await scope.dispose();
  });
});

describe('file_memory files', () => {
  const problems = (file: object) =>
    fileMemory.schema.safeParse({ backend: 'file_memory', ...file }).error?.issues.map(({ message }) => message);

  it('say what belongs to which way of writing', () => {
    expect(problems({ write: 'model' })).toEqual([
      'write: model needs llm',
      'write: model needs system_prompt',
      'write: model needs user_prompt',
    ]);
    expect(problems({ max_tool_calls: 3, user_prompt: 'x' })).toEqual([
      'user_prompt needs write: model',
      'max_tool_calls needs write: model',
    ]);
  });

  it('are the same arm wherever the folder is, and another with other prompts', () => {
    const parsed = (file: object) => fileMemory.schema.parse({ backend: 'file_memory', ...file });
    const identity = (file: object) => fileMemory.identity?.(parsed(file));
    expect(identity({ folder: 'a' })).toEqual(identity({}));
    expect(identity(keeping)).not.toEqual(identity({ ...keeping, user_prompt: 'Other {{ facts | json }}' }));
    const llmWith = (extra: object) => ({ ...keeping, llm: { ...keeping.llm, ...extra } });
    expect(identity(llmWith({ api_key_env: 'MY_KEY', timeout_s: 9 }))).toEqual(identity(keeping));
    expect(identity(llmWith({ temperature: 1 }))).not.toEqual(identity(keeping));
    expect(fileMemory.inlined?.(parsed({ folder: 'a' }), (path) => `/configs/${path}`).folder).toBe('/configs/a');
    expect(fileMemory.models?.(parsed(keeping))).toMatchObject([{ path: ['llm', 'model_id'], kind: 'chat' }]);
  });

  it('ship prompts that say nothing about privacy', async () => {
    for (const name of ['file_memory_model', 'summary', 'extracted']) {
      const file = await readFile(join(import.meta.dirname, `../../configs/memory/${name}.yaml`), 'utf8');
      const prompts = Object.entries(parse(file) as object).filter(([key]) => key.endsWith('_prompt'));
      expect(prompts.length).toBeGreaterThanOrEqual(2);
      expect(JSON.stringify(prompts)).not.toMatch(/priva|secret|confiden|sensitiv|share|leak|disclos|recipient/i);
    }
  });
});
