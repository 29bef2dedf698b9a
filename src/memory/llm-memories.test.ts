import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { type ChatBody, type LoopbackOptions, startLoopback } from '../../test/support/loopback-chat.ts';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { ChatModel, ChatRequest, EmbeddingModel } from '../contracts/model.ts';
import type { MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { scriptedModel } from '../models/scripted-model.ts';
import type { Fact } from '../schema/record.ts';
import { extracted } from './extracted.ts';
import { fileMemory } from './file-memory.ts';
import { summary } from './summary.ts';

const llm = { model_id: 'openai:writer' };
const summaryFile = {
  backend: 'summary',
  llm,
  system_prompt: 'Sum up.',
  user_prompt: '{{ profile }}|{{ facts | json }}',
};
const extractedFile = {
  backend: 'extracted',
  llm,
  system_prompt: 'Extract.',
  user_prompt: '{{ facts | json }}',
  retry_prompt: 'Again: {{ problem }}',
};

const create = <O>(plugin: MemoryPlugin<O>, file: object, context: PluginContext) =>
  plugin.create(plugin.schema.parse(file), context);
const withModel = (model: ChatModel) => fakePluginContext({ model });

interface Told {
  number: number;
  text: string;
}
const userOf = ({ messages }: ChatRequest) => messages[1]?.content ?? '';
const json = (facts: { text: string; sources?: number[] }[]) => JSON.stringify({ facts });

/** Repeats the profile so far and every fact. */
const copying = () =>
  scriptedModel((request) => {
    const [profile = '', facts = '[]'] = userOf(request).split(/\|(.*)/s);
    return [profile, ...(JSON.parse(facts) as Told[]).map(({ text }) => text)].join('\n');
  });
/** Extracts every fact as it is. */
const verbatim = () =>
  scriptedModel((request) =>
    json(
      (JSON.parse(userOf(request)) as Told[])
        .filter(({ text }) => text !== '')
        .map(({ text, number }) => ({ text, sources: [number] })),
    ),
  );

const declared = { stores: true, rewrites: true, needs_network: true, needs_key: true };
memoryContract('summary', () => create(summary, summaryFile, withModel(copying())), {
  capabilities: { ...declared, provenance: false, honours_k: false },
});
memoryContract('extracted', () => create(extracted, extractedFile, withModel(verbatim())), {
  capabilities: { ...declared, provenance: true, honours_k: true },
});

const facts: Fact[] = [
  { id: 'a', key: 'Dish', text: 'Dish: lasagne', session: 's1', at: '2025-03-01T09:00:00Z' },
  { id: 'b', key: 'Car', text: 'Car: a red convertible', session: 's1', at: '2025-03-01T09:00:00Z' },
  { id: 'c', key: 'Notes', text: 'Notes: the doctor diagnosed diabetes', session: 's2', at: '2025-03-08T09:00:00Z' },
];

async function failing<O>(plugin: MemoryPlugin<O>, file: object, model: ChatModel) {
  const scope = await (await create(plugin, file, withModel(model))).open('s', fakeCall());
  const error = await heamsErrorOf(scope.write(facts));
  expect(await scope.list()).toEqual([]);
  return error;
}

describe('summary', () => {
  it('has its profile written session by session, and counts that as priming', async () => {
    const model = scriptedModel([
      { text: ' Likes lasagne. \n', usage: { inputTokens: 20, outputTokens: 5 } },
      { text: 'Likes lasagne. Has diabetes.', usage: { inputTokens: 30, outputTokens: 8 } },
    ]);
    const file = { ...summaryFile, system_prompt: '{{ at }}', user_prompt: '[{{ profile }}] {{ facts | json }}' };
    const scope = await (await create(summary, file, withModel(model))).open('s', fakeCall({ stage: 'prime' }));
    const call = fakeCall({ stage: 'prime' });
    const other = await (await create(summary, file, withModel(copying()))).open('t', call);
    await scope.write(facts);
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      '2025-03-01T09:00:00Z',
      '2025-03-08T09:00:00Z',
    ]);
    expect(userOf(model.requests[0] as ChatRequest)).toMatch(/^\[\] /);
    expect(userOf(model.requests[1] as ChatRequest)).toMatch(/^\[Likes lasagne\.\] .*diabetes/);
    const profile = [{ text: 'Likes lasagne. Has diabetes.', fact_ids: [] }];
    expect(await scope.list()).toEqual(profile);
    expect(await scope.search('anything', 1)).toEqual({ query: 'anything', items: profile });
    expect(call.spent.prime.calls).toBe(0);
    await other.dispose();
  });

  it('pays with the call that opened the scope', async () => {
    const call = fakeCall({ stage: 'prime' });
    const model = scriptedModel(() => ({ text: 'A profile.', usage: { inputTokens: 20, outputTokens: 5 } }));
    await (await (await create(summary, summaryFile, withModel(model))).open('s', call)).write(facts);
    expect(call.spent.prime).toMatchObject({ calls: 2, input_tokens: 40, output_tokens: 10 });
  });

  it('goes on from its profile where it is written to again', async () => {
    const scope = await (await create(summary, summaryFile, withModel(copying()))).open('s', fakeCall());
    await scope.write(facts.slice(0, 1));
    await scope.write(facts.slice(1, 2));
    expect((await scope.list())[0]?.text).toBe('Dish: lasagne\nCar: a red convertible');
  });

  it('keeps nothing of a profile that is cut off or declined, nor of a blank one', async () => {
    const cutOff = scriptedModel(['Likes lasagne.', { text: 'Likes lasa', finishReason: 'cut_off' }]);
    expect((await failing(summary, summaryFile, cutOff)).code).toBe('memory_model_cut_off');
    const declined = scriptedModel([{ text: 'I cannot help with that.', finishReason: 'refused' }]);
    expect((await failing(summary, summaryFile, declined)).code).toBe('memory_model_refused');
    const scope = await (await create(summary, summaryFile, withModel(scriptedModel(() => ' ')))).open('s', fakeCall());
    await scope.write(facts);
    expect(await scope.list()).toEqual([]);
  });

  it('keeps 16 scopes at once apart', async () => {
    const backend = await create(summary, summaryFile, withModel(copying()));
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const scope = await backend.open(`s${i}`, fakeCall());
        await scope.write([{ id: 'own', key: 'k', text: `word ${i}` }]);
        expect((await scope.search('x', 1)).items.map(({ text }) => text)).toEqual([`word ${i}`]);
      }),
    );
  });
});

describe('extracted', () => {
  it('names the facts that the model names, and no others', async () => {
    const model = scriptedModel([
      json([
        { text: ' Likes lasagne. ', sources: [1] },
        { text: 'Drives a convertible to eat lasagne.', sources: [2, 1, 2] },
        { text: 'Is well.', sources: [0, 3, -1, 99] },
        { text: 'Owns a car.' },
      ]),
      json([{ text: 'Has diabetes.', sources: [1] }]),
    ]);
    const scope = await (await create(extracted, extractedFile, withModel(model))).open('s', fakeCall());
    await scope.write(facts);
    expect(await scope.list()).toEqual([
      { text: 'Likes lasagne.', fact_ids: ['a'] },
      { text: 'Drives a convertible to eat lasagne.', fact_ids: ['b', 'a'] },
      { text: 'Is well.', fact_ids: [] },
      { text: 'Owns a car.', fact_ids: [] },
      // Numbers count within a session.
      { text: 'Has diabetes.', fact_ids: ['c'] },
    ]);
    const { items } = await scope.search('chronic illness and medical treatment', 1);
    expect(items).toMatchObject([{ text: 'Has diabetes.', fact_ids: ['c'] }]);
    expect(model.requests[0]?.jsonSchema?.name).toBe('extracted_facts');
  });

  it('asks again where a reply cannot be read, with what was wrong, and then fails', async () => {
    const [one] = facts as [Fact];
    const model = scriptedModel([
      'Sure! {"facts": []}',
      '',
      `\`\`\`json\n${json([{ text: 'Likes lasagne.' }])}\n\`\`\``,
    ]);
    const call = fakeCall({ stage: 'prime' });
    const scope = await (await create(extracted, extractedFile, withModel(model))).open('s', call);
    await scope.write([one]);
    expect((await scope.list()).map(({ text }) => text)).toEqual(['Likes lasagne.']);
    expect(call.spent.prime.calls).toBe(3);
    const [, , last] = model.requests;
    expect(last?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'user']);
    expect(last?.messages[3]?.content).toMatch(/^Again: not JSON: /);

    const unreadable = ['{"facts": [{"text": ""}]}', '{"facts": {}}', '{"facts": [], "note": "x"}'];
    const error = await failing(extracted, extractedFile, scriptedModel(unreadable));
    expect(error.code).toBe('memory_extraction_unreadable');
    expect(error.found).toContain('after 3 attempts');
  });

  it('keeps nothing where it is cut off, or where a later session cannot be embedded', async () => {
    const cutOff = scriptedModel([json([{ text: 'Likes lasagne.' }]), { text: '{"facts', finishReason: 'cut_off' }]);
    expect((await failing(extracted, extractedFile, cutOff)).code).toBe('memory_model_cut_off');
    const broken: EmbeddingModel = { id: 'test:broken', embed: async () => [] };
    const context = fakePluginContext({ model: verbatim(), embedder: broken });
    const backend = await create(extracted, { ...extractedFile, embedding_model_id: 'openai:x' }, context);
    const scope = await backend.open('s', fakeCall());
    expect((await heamsErrorOf(scope.write(facts))).code).toBe('embedding_bad_response');
    expect(await scope.list()).toEqual([]);
  });

  it('may find nothing in some facts', async () => {
    const model = scriptedModel(() => json([]));
    const scope = await (await create(extracted, extractedFile, withModel(model))).open('s', fakeCall());
    await scope.write(facts);
    expect(await scope.list()).toEqual([]);
    expect((await scope.search('x', 3)).items).toEqual([]);
  });
});

describe('memory files with a model', () => {
  it('name it, and say what they need', async () => {
    const options = extracted.schema.parse({ ...extractedFile, embedding_model_id: 'openai:embed', top_k: 2 });
    expect(extracted.models?.(options).map(({ path, kind }) => `${path.join('.')} ${kind}`)).toEqual([
      'llm.model_id chat',
      'embedding_model_id embedding',
    ]);
    const local = { model_id: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1' };
    const needs = async (given: object) => {
      const { capabilities } = await create(summary, { ...summaryFile, llm: given }, withModel(copying()));
      return [capabilities.needs_network, capabilities.needs_key];
    };
    expect(await needs(local)).toEqual([true, false]);
    expect(await needs({ ...local, api_key_env: 'MY_KEY' })).toEqual([true, true]);
    expect(await needs({ model_id: 'builtin:echo' })).toEqual([false, false]);
  });

  it('refuse what would have no effect, and prompts that leave the facts out', () => {
    expect(summary.schema.safeParse({ ...summaryFile, top_k: 3 }).error?.issues[0]?.message).toContain('no top_k');
    const { user_prompt: _, ...promptless } = extractedFile;
    expect(extracted.schema.safeParse(promptless).error?.issues[0]?.path).toEqual(['user_prompt']);
    const uses = summary.templates?.(summary.schema.parse(summaryFile), []) ?? [];
    expect(uses.map(({ requires }) => requires)).toEqual([undefined, ['facts', 'profile']]);
  });
});

describe('through the real client', () => {
  /** A shipped config over a loopback server that speaks chat completions. */
  async function shipped<O>(plugin: MemoryPlugin<O>, name: string, options: LoopbackOptions) {
    const server = await startLoopback(options);
    onTestFinished(() => server.close());
    const file = parse(await readFile(join(import.meta.dirname, `../../configs/memory/${name}.yaml`), 'utf8'));
    const llm = { ...file.llm, model_id: 'openai-compatible:writer', base_url: server.baseUrl };
    const factory = testFactory();
    const context = { ...fakePluginContext(), model: factory.chat, embedder: factory.embedder };
    const backend = await create(plugin, { ...file, llm }, context);
    onTestFinished(() => backend.close());
    const call = fakeCall({ stage: 'prime' });
    const scope = await backend.open('s', call);
    await scope.write(facts);
    return { scope, call, server };
  }
  const said = ({ messages }: ChatBody) => messages.map(({ content }) => content).join('\n');

  it('summary writes its profile, with what it spent', async () => {
    const bodies: ChatBody[] = [];
    const { scope, call } = await shipped(summary, 'summary', {
      answer: (body, n) => {
        bodies.push(body);
        return `Profile ${n}.`;
      },
    });
    expect((await scope.search('x', 1)).items.map(({ text }) => text)).toEqual(['Profile 1.']);
    expect(call.spent.prime.calls).toBe(2);
    expect(call.spent.prime.input_tokens).toBeGreaterThan(0);
    const [first, second] = bodies.map(said);
    expect(first).toContain('New information, of 2025-03-01:\n\nDish: lasagne\n\nCar: a red convertible\n');
    expect(first).not.toContain('profile so far');
    expect(second).toContain('The profile so far:\n\nProfile 0.\n');
  });

  it('extracted reads JSON, and asks again where it is broken', async () => {
    let broken = true;
    const { scope, call } = await shipped(extracted, 'extracted', {
      answer: (body) => {
        if (broken) {
          broken = false;
          return '{"facts": [';
        }
        return said(body).includes('diabetes')
          ? json([{ text: 'The user has diabetes.', sources: [1] }])
          : json([{ text: 'The user drives a red convertible.', sources: [2] }]);
      },
    });
    expect(call.spent.prime.calls).toBe(3);
    expect((await scope.search('chronic illness', 1)).items).toMatchObject([{ fact_ids: ['c'] }]);
    expect((await scope.list()).map(({ fact_ids }) => fact_ids)).toEqual([['b'], ['c']]);
  });

  it('file_memory has its notes written by tool calls', async () => {
    const { scope, call } = await shipped(fileMemory, 'file_memory_model', {
      answer: (body) => {
        const asked = body.messages.filter(({ role }) => role === 'tool').length;
        if (asked > 0) return 'done';
        const path = said(body).includes('diabetes') ? '/memories/health.md' : '/memories/life.md';
        const text = path.includes('health') ? '- the doctor diagnosed diabetes\n' : '- Dish: lasagne\n- red car\n';
        return { toolCalls: [{ name: 'create', input: { path, file_text: text } }] };
      },
    });
    expect(call.spent.prime.calls).toBe(4);
    expect(await scope.list()).toEqual([
      { text: 'the doctor diagnosed diabetes', fact_ids: [] },
      { text: 'Dish: lasagne', fact_ids: ['a'] },
      { text: 'red car', fact_ids: [] },
    ]);
    await scope.dispose();
  });

  it('a server that fails is a failure with its name, not an empty memory', async () => {
    const server = await startLoopback({ raw: () => ({ status: 401, body: '{"error":{"message":"no"}}' }) });
    onTestFinished(() => server.close());
    const model = await testFactory().chat({ model_id: 'openai-compatible:writer', base_url: server.baseUrl });
    for (const [plugin, file] of [
      [summary, summaryFile],
      [extracted, extractedFile],
    ] as [MemoryPlugin, object][]) {
      const scope = await (await create(plugin, file, withModel(model))).open('s', fakeCall());
      expect((await heamsErrorOf(scope.write(pool))).code).toBe('model_auth');
    }
  });
});
