import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeJob, fakeParts, fakeReply, fakeSample } from '../../test/support/fake-parts.ts';
import { type Loopback, type LoopbackOptions, startLoopback } from '../../test/support/loopback-chat.ts';
import { newMessages, verbatimExtraction } from '../../test/support/mem0-extraction.ts';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import { namedMem0, nativeSqlite } from '../../test/support/native-sqlite.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { BudgetError, type EmbeddingModel } from '../contracts/model.ts';
import { runSample } from '../run/run-sample.ts';
import { mem0 } from './mem0.ts';

const offline = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
};
const exceptions = { empty_text: 'mem0 refuses a blank text' };

const plain = (file: object = {}, context = fakePluginContext()) =>
  mem0.create(mem0.schema.parse({ backend: 'mem0', ...file }), context);

describe.skipIf(!nativeSqlite)(namedMem0('mem0'), () => {
  memoryContract('mem0, infer: false', () => plain(), { capabilities: offline, exceptions });
});

/** mem0 with a model behind HEAMS's own wrappers that a loopback server plays. */
async function inferring(server: Loopback, file: object = {}) {
  const models = testFactory();
  return mem0.create(
    mem0.schema.parse({
      backend: 'mem0',
      infer: true,
      llm: { model_id: 'openai-compatible:extractor', base_url: server.baseUrl },
      ...file,
    }),
    { ...fakePluginContext(), model: async (settings) => models.chat(settings) },
  );
}

async function withServer<T>(options: LoopbackOptions, work: (server: Loopback) => Promise<T>): Promise<T> {
  const server = await startLoopback(options);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

describe.skipIf(!nativeSqlite)(
  namedMem0('mem0, infer: true, over a loopback model that extracts word for word'),
  () => {
    let server: Loopback;
    beforeAll(async () => {
      server = await startLoopback({ answer: verbatimExtraction });
    });
    afterAll(() => server.close());

    const rewriting = { ...offline, rewrites: true, needs_network: true };
    memoryContract('mem0, a fact an add', () => inferring(server), { capabilities: rewriting, exceptions });
    memoryContract('mem0, a session an add', () => inferring(server, { add_by: 'session' }), {
      capabilities: { ...rewriting, provenance: false },
      exceptions,
    });

    it('pays for each extraction as a part of priming, and for none in a search', async () => {
      const call = fakeCall({ stage: 'prime' });
      const scope = await (await inferring(server)).open('s', call);
      await scope.write(pool.slice(0, 3));
      expect(call.spent.prime.calls).toBe(3);
      expect(call.spent.prime.input_tokens).toBeGreaterThan(10_000);
      await scope.search('hotel', 2);
      await scope.dispose();
      expect(call.spent.prime.calls).toBe(3);
    });

    it('names the fact of every memory that was extracted from it', async () => {
      const two = (text: string) => [text.split(': ')[0] as string, text];
      await withServer(
        {
          answer: (body) =>
            JSON.stringify({
              memory: newMessages(body)
                .flatMap(two)
                .map((text, i) => ({ id: String(i), text })),
            }),
        },
        async (halving) => {
          const scope = await (await inferring(halving)).open('s', fakeCall());
          await scope.write(pool.slice(0, 2));
          expect(await scope.list()).toEqual([
            { text: 'Name', fact_ids: ['f0'] },
            { text: 'Name: Zoë Müller-Ødegård', fact_ids: ['f0'] },
            { text: 'CheckInDate', fact_ids: ['f1'] },
            { text: 'CheckInDate: January 15, 2024', fact_ids: ['f1'] },
          ]);
          await scope.dispose();
        },
      );
    });

    it('asks once for a session, and adds its own instructions to the prompt', async () => {
      const asked: string[] = [];
      await withServer(
        {
          answer: (body) => {
            asked.push(body.messages.at(-1)?.content ?? '');
            return verbatimExtraction(body);
          },
        },
        async (listening) => {
          const file = { add_by: 'session', custom_instructions: 'Keep dates.' };
          const scope = await (await inferring(listening, file)).open('s', fakeCall());
          const at = (session: string) => (fact: (typeof pool)[number]) => ({ ...fact, session });
          await scope.write([...pool.slice(0, 2).map(at('one')), ...pool.slice(2, 4).map(at('two'))]);
          expect(asked.length).toBe(2);
          expect(asked[0]).toContain('## Custom Instructions\nKeep dates.');
          expect((await scope.list()).length).toBe(4);
          await scope.dispose();
        },
      );
    });
  },
);

describe.skipIf(!nativeSqlite)(namedMem0('mem0 when a model fails'), () => {
  it.each([
    ['no JSON', 'I would rather not.', {}, 'memory_unreadable_extraction'],
    ['half an answer', { text: '{"memory":[]}', finishReason: 'length' }, {}, 'memory_unreadable_extraction'],
    ['a refused key', '', { apiKey: 'another-key' }, 'model_auth'],
  ])('fails the sample with what it was, in silence: %s', async (_name, answer, options, code) => {
    const printed = ['error', 'warn', 'debug', 'log'].map((name) => vi.spyOn(console, name as 'error'));
    await withServer({ ...options, answer: () => answer }, async (server) => {
      const memory = await inferring(server);
      const agent = fakeAgent({
        respond: async (_task, { scope }) => fakeReply({ recalls: [await scope.search('x', 1)] }),
      });
      const one = await runSample(
        fakeJob({ sample: fakeSample('s', { facts: [...pool] }) }),
        fakeParts({ memory, agent }),
        new AbortController().signal,
      );
      expect(one.status === 'failed' && one.error).toMatchObject({ stage: 'prime', code });
      expect(one.stored).toBeUndefined();
      expect(one.reply).toBeUndefined();
      expect(server.stats.requests).toBe(1);
    });
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  it('passes a spent budget on as one, so that the run stops', async () => {
    const llm = {
      id: 'test:broke',
      structuredOutput: true,
      generate: () => Promise.reject(new BudgetError('the budget is spent')),
    };
    const file = { infer: true, llm: { model_id: 'openai:x' } };
    const scope = await (await plain(file, fakePluginContext({ model: llm }))).open('s', fakeCall());
    await expect(scope.write(pool)).rejects.toBeInstanceOf(BudgetError);
    await scope.dispose();
  });

  it('fails a search whose embedding fails', async () => {
    let broken = false;
    const embedder: EmbeddingModel = {
      id: 'test:flaky',
      embed: async (texts) => {
        if (broken) throw new Error('out of order');
        return texts.map((text) => Float32Array.from([text.length, 1, 0]));
      },
    };
    const memory = await plain({ embedding_model_id: 'openai:e' }, fakePluginContext({ embedder }));
    const scope = await memory.open('s', fakeCall());
    await scope.write(pool);
    broken = true;
    await expect(scope.search('hotel', 2)).rejects.toThrow('out of order');
    broken = false;
    expect((await scope.search('hotel', 2)).items.length).toBe(2);
    await scope.dispose();
  });
});

describe.skipIf(!nativeSqlite)(namedMem0('mem0'), () => {
  /** One direction for each text, so that a query can point away from all of them. */
  const compass: EmbeddingModel = {
    id: 'test:compass',
    embed: async (texts) =>
      texts.map((text) => Float32Array.from(text === 'south' ? [-1, 0] : text === 'north' ? [1, 0] : [1, 0.2])),
  };
  const facts = ['north', 'north-east', 'north by north-east'].map((text, i) => ({ id: `f${i}`, key: 'k', text }));

  it('gives k hits even where all of them point away from the query', async () => {
    const context = fakePluginContext({ embedder: compass });
    const scope = await (await plain({ embedding_model_id: 'openai:e' }, context)).open('s', fakeCall());
    await scope.write(facts);
    expect((await scope.search('south', 3)).items.map(({ fact_ids: ids }) => ids[0])).toEqual(['f1', 'f2', 'f0']);
    await scope.dispose();
    const strict = await (await plain({ embedding_model_id: 'openai:e', threshold: 0.1 }, context)).open(
      't',
      fakeCall(),
    );
    await strict.write(facts);
    expect((await strict.search('south', 3)).items).toEqual([]);
    await strict.dispose();
  });

  it('embeds the facts of a write in one request, and each fact once', async () => {
    const asked: string[][] = [];
    const embedder: EmbeddingModel = {
      id: 'test:counting',
      embed: async (texts, call) => {
        asked.push([...texts]);
        return compass.embed(texts, call);
      },
    };
    const context = fakePluginContext({ embedder });
    const scope = await (await plain({ embedding_model_id: 'openai:e' }, context)).open('s', fakeCall());
    await scope.write(facts);
    await scope.search('south', 1);
    expect(asked).toEqual([['north', 'north-east', 'north by north-east'], ['south']]);
    await scope.dispose();
  });

  it('keeps many scopes apart, also under one embedding', async () => {
    const memory = await plain();
    const scopes = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const scope = await memory.open(`many-${i}`, fakeCall());
        await scope.write([{ id: 'f0', key: 'Room', text: `Room: ${i}` }]);
        return scope;
      }),
    );
    const found = await Promise.all(scopes.map((scope) => scope.search('room', 5)));
    expect(found.map(({ items }) => items.map(({ text }) => text))).toEqual(scopes.map((_, i) => [`Room: ${i}`]));
    await Promise.all(scopes.map((scope) => scope.dispose()));
    await memory.close();
  });
});

describe('mem0 files', () => {
  const problems = (file: object) =>
    mem0.schema.safeParse({ backend: 'mem0', ...file }).error?.issues.map(({ path, message }) => `${path}: ${message}`);

  it('ask for a model where one is needed, and refuse what has no effect', () => {
    expect(problems({ infer: true })).toEqual(['llm: infer: true needs llm with a model_id: it extracts what is kept']);
    expect(problems({ add_by: 'fact' })).toEqual(['add_by: add_by needs infer: true']);
    expect(problems({ base_url: 'http://127.0.0.1:1' })?.[0]).toContain('base_url needs an embedding_model_id');
    expect(problems({ infer: true, llm: { model_id: 'openai:x', topk: 1 } })?.[0]).toContain('topk');
  });

  it('name their models, their packages and nothing of how they are reached', () => {
    const llm = { model_id: 'openai:x', api_key_env: 'KEY', temperature: 0 };
    const options = mem0.schema.parse({ backend: 'mem0', infer: true, llm });
    expect(mem0.models?.(options)).toEqual([
      { path: ['llm', 'model_id'], settings: llm, kind: 'chat', role: 'extraction of memories' },
    ]);
    expect(mem0.requires?.(options).map((need) => 'name' in need && need.name)).toEqual([
      'mem0ai/oss',
      'better-sqlite3',
    ]);
    expect(mem0.identity?.(options)).toMatchObject({ infer: true, llm: { model_id: 'openai:x', temperature: 0 } });
    expect(JSON.stringify(mem0.identity?.(options))).not.toContain('KEY');
  });
});
