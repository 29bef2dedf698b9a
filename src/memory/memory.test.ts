import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { builtinRegistry } from '../config/registry.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import type { EmbeddingModel } from '../contracts/model.ts';
import type { MemoryPlugin, PluginContext } from '../contracts/plugin.ts';
import { bm25 } from './bm25.ts';
import { fullContext } from './full-context.ts';
import { hybrid } from './hybrid.ts';
import { noMemory } from './no-memory.ts';
import { vector } from './vector.ts';

/** The path of a config file: its schema, then the plug-in. */
async function create<O>(
  plugin: MemoryPlugin<O>,
  file: z.input<z.ZodType<O>> | object,
  context: PluginContext = fakePluginContext(),
): Promise<MemoryBackend> {
  return plugin.create(plugin.schema.parse(file), context);
}

function problems<O>(plugin: MemoryPlugin<O>, file: object): string[] {
  const result = plugin.schema.safeParse(file);
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const offline = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
};

/** Counts letters: enough to rank texts by, and worked out by hand where a test needs it. */
const letters: EmbeddingModel = {
  id: 'test:letters',
  embed: async (texts) =>
    texts.map((text) => {
      const counts = new Float32Array(26);
      for (const letter of text.toLowerCase()) {
        const i = letter.charCodeAt(0) - 97;
        if (i >= 0 && i < 26) counts[i] = (counts[i] ?? 0) + 1;
      }
      return counts;
    }),
};

memoryContract('no_memory', () => create(noMemory, { backend: 'no_memory' }), {
  capabilities: { ...offline, stores: false, honours_k: false },
});
memoryContract('full_context', () => create(fullContext, { backend: 'full_context' }), {
  capabilities: { ...offline, honours_k: false },
});
memoryContract('bm25', () => create(bm25, { backend: 'bm25' }), { capabilities: offline });
memoryContract('vector', () => create(vector, { backend: 'vector' }), { capabilities: offline });
memoryContract('hybrid', () => create(hybrid, { backend: 'hybrid' }), { capabilities: offline });
memoryContract(
  "vector with a provider's embeddings",
  () =>
    create(
      vector,
      { backend: 'vector', embedding_model_id: 'openai:text-embedding-3-small' },
      fakePluginContext({ embedder: letters }),
    ),
  { capabilities: { ...offline, needs_network: true, needs_key: true } },
);

describe('memory files', () => {
  it('fill in the defaults', () => {
    expect(bm25.schema.parse({ backend: 'bm25' })).toEqual({ backend: 'bm25', top_k: 5, k1: 1.2, b: 0.75 });
    expect(hybrid.schema.parse({ backend: 'hybrid' })).toEqual({
      backend: 'hybrid',
      top_k: 5,
      embedding_model_id: 'builtin:use-lite-512',
    });
  });

  it('pass top_k on', async () => {
    expect((await create(bm25, { backend: 'bm25', top_k: 2 })).topK).toBe(2);
  });

  it.each([noMemory, fullContext])('refuse top_k where there is no search, and say why ($name)', (plugin) => {
    expect(problems(plugin as MemoryPlugin<unknown>, { backend: plugin.name, top_k: 3 })).toEqual([
      'top_k: no top_k: this backend does not search, so there is no number of items to ask for',
    ]);
  });

  it('refuse unknown keys and values out of range', () => {
    expect(problems(bm25, { backend: 'bm25', topk: 3 })[0]).toContain('"topk"');
    expect(problems(bm25, { backend: 'bm25', top_k: 0 })[0]).toContain('top_k');
    expect(problems(bm25, { backend: 'bm25', b: 1.5 })[0]).toContain('b:');
    expect(problems(vector, { backend: 'bm25' })[0]).toContain('backend');
  });

  it.each([vector, hybrid])('refuse connection settings for the built-in encoder ($name)', (plugin) => {
    const file = { backend: plugin.name, base_url: 'http://127.0.0.1:1/v1', timeout_s: 3 };
    expect(problems(plugin as MemoryPlugin<unknown>, file)).toEqual([
      'base_url: base_url needs an embedding_model_id: builtin:use-lite-512 runs in this process',
      'timeout_s: timeout_s needs an embedding_model_id: builtin:use-lite-512 runs in this process',
    ]);
  });

  it.each([vector, hybrid])('name the embedding model they use, and no built-in one ($name)', (plugin) => {
    const { schema, models } = plugin as MemoryPlugin<unknown>;
    expect(models?.(schema.parse({ backend: plugin.name }))).toEqual([]);
    const file = { backend: plugin.name, embedding_model_id: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1' };
    expect(models?.(schema.parse(file))).toEqual([
      {
        path: ['embedding_model_id'],
        settings: { model_id: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1' },
        kind: 'embedding',
        role: 'embeddings',
      },
    ]);
  });

  it('need no key for a server of their own that asks for none', async () => {
    const context = fakePluginContext({ embedder: letters });
    const file = { backend: 'vector', embedding_model_id: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1' };
    expect((await create(vector, file, context)).capabilities.needs_key).toBe(false);
    expect((await create(vector, { ...file, api_key_env: 'MY_KEY' }, context)).capabilities.needs_key).toBe(true);
  });
});

describe('shipped memory configs', async () => {
  const folder = join(import.meta.dirname, '../../configs/memory');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));

  it.each(files)('%s fits its plug-in', async (file) => {
    const config = parse(await readFile(join(folder, file), 'utf8')) as { backend: string; name: string };
    const plugin = (await builtinRegistry.memories[config.backend]?.()) as MemoryPlugin;
    expect(plugin.schema.safeParse(config).error).toBeUndefined();
    expect(`${config.name}.yaml`).toBe(file);
  });
});

describe('bm25', () => {
  it('finds fewer than k rather than make up the number', async () => {
    const backend = await create(bm25, { backend: 'bm25' });
    const scope = await backend.open('s', fakeCall());
    await scope.write([
      { id: 'a', key: 'Dish', text: 'Dish: lasagne' },
      { id: 'b', key: 'Sport', text: 'Sport: rowing' },
    ]);
    expect((await scope.search('the favourite dish', 5)).items.map(({ fact_ids }) => fact_ids)).toEqual([['a']]);
    expect(await scope.search('nothing of the kind', 5)).toEqual({
      query: 'nothing of the kind',
      requested_k: 5,
      items: [],
    });
    await backend.close();
  });
});

describe('vector', () => {
  it('finds a paraphrase that shares no word with the query', async () => {
    const backend = await create(vector, { backend: 'vector' });
    const scope = await backend.open('s', fakeCall());
    await scope.write([
      { id: 'car', key: 'Car', text: 'Car: a red convertible with leather seats' },
      { id: 'ill', key: 'Notes', text: 'Notes: the doctor diagnosed diabetes last spring' },
      { id: 'pet', key: 'Pet', text: 'Pet: an old tabby cat' },
    ]);
    expect((await scope.search('chronic illness and medical treatment', 1)).items[0]?.fact_ids).toEqual(['ill']);
    await backend.close();
  });

  it('pays for its embeddings with the call that opened the scope', async () => {
    const seen: string[] = [];
    const metered: EmbeddingModel = {
      id: 'test:metered',
      embed: async (texts, call) => {
        call.meter.add(call.stage, { calls: 1 });
        seen.push(...texts);
        return letters.embed(texts, call);
      },
    };
    const file = { backend: 'vector', embedding_model_id: 'openai:x' };
    const backend = await create(vector, file, fakePluginContext({ embedder: metered }));
    const call = fakeCall({ stage: 'prime' });
    const scope = await backend.open('s', call);
    await scope.write([{ id: 'a', key: 'k', text: 'k: one' }]);
    await scope.search('two', 1);
    expect(seen).toEqual(['k: one', 'two']);
    expect(call.spent.prime.calls).toBe(2);
  });

  it('stores nothing when its embeddings fail, and says so to the writer', async () => {
    let broken = true;
    const flaky: EmbeddingModel = {
      id: 'test:flaky',
      embed: async (texts, call) => {
        if (broken) throw new Error('out of order');
        return letters.embed(texts, call);
      },
    };
    for (const plugin of [vector, hybrid] as MemoryPlugin<unknown>[]) {
      broken = true;
      const file = { backend: plugin.name, embedding_model_id: 'openai:x' };
      const scope = await (await create(plugin, file, fakePluginContext({ embedder: flaky }))).open('s', fakeCall());
      await expect(scope.write([{ id: 'a', key: 'k', text: 'k: one' }])).rejects.toThrow('out of order');
      expect(await scope.list()).toEqual([]);
      broken = false;
      await scope.write([{ id: 'b', key: 'k', text: 'k: two' }]);
      expect((await scope.search('two', 5)).items.map(({ fact_ids }) => fact_ids)).toEqual([['b']]);
    }
  });
});

describe('a scope', () => {
  it('does not wait for a write longer than its signal allows', async () => {
    const never: EmbeddingModel = { id: 'test:never', embed: () => new Promise(() => {}) };
    const file = { backend: 'vector', embedding_model_id: 'openai:x' };
    const scope = await (await create(vector, file, fakePluginContext({ embedder: never }))).open('s', fakeCall());
    void scope.write([{ id: 'a', key: 'k', text: 'k: one' }]);
    const control = new AbortController();
    const ready = scope.ready(control.signal);
    control.abort(new Error('too late'));
    await expect(ready).rejects.toThrow('too late');
  });

  it('refuses a k that is no positive whole number', async () => {
    const scope = await (await create(bm25, { backend: 'bm25' })).open('s', fakeCall());
    for (const k of [0, -1, 1.5, Number.NaN]) await expect(scope.search('x', k)).rejects.toThrow(RangeError);
  });
});
