import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import {
  type Loopback,
  type LoopbackOptions,
  type LoopbackRequest,
  startLoopback,
} from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';

let server: Loopback;
let options: LoopbackOptions;
let received: LoopbackRequest[];
beforeEach(async () => {
  received = [];
  options = { onRequest: (request) => received.push(request) };
  server = await startLoopback(options);
});
afterEach(() => server.close());

const env = { OPENAI_API_KEY: 'openai-key-1', GEMINI_API_KEY: 'google-key-1' };

describe('embeddings', () => {
  const texts = ['green tea', 'black coffee', 'green tea'];

  it.each([
    ['openai:text-embedding-3-small', '/v1/embeddings'],
    ['openai-compatible:nomic-embed-text', '/v1/embeddings'],
    ['google:gemini-embedding-001', '/v1beta/models/gemini-embedding-001:batchEmbedContents'],
  ])('%s gives one vector a text, in order', async (model_id, path) => {
    const base_url = model_id.startsWith('google') ? server.url : server.baseUrl;
    const call = fakeCall({ stage: 'prime' });
    const embedder = await testFactory({ env }).embedder({ model_id, base_url });
    const vectors = await embedder.embed(texts, call);
    expect(vectors).toHaveLength(3);
    expect(vectors[0]).toBeInstanceOf(Float32Array);
    expect(vectors[0]).toEqual(vectors[2]);
    expect(vectors[0]).not.toEqual(vectors[1]);
    expect(received.map((request) => request.path)).toEqual([path]);
    // Nine, twelve and nine characters: three tokens each. Gemini does not say.
    const tokens = model_id.startsWith('google') ? 0 : 9;
    expect(call.spent.prime).toMatchObject({ calls: 1, input_tokens: tokens });
  });

  it('cuts many texts into requests that a service takes', async () => {
    const embedder = await testFactory().embedder({ model_id: 'openai-compatible:e', base_url: server.baseUrl });
    const many = Array.from({ length: 600 }, (_, i) => `text number ${i}`);
    const vectors = await embedder.embed(many, fakeCall());
    const single = await embedder.embed(['text number 599'], fakeCall());
    expect(vectors).toHaveLength(600);
    expect(vectors[599]).toEqual(single[0]);
    expect(received.map(({ body }) => (body.input as string[]).length).sort((a, b) => a - b)).toEqual([
      1, 88, 256, 256,
    ]);
    received.length = 0;
    await embedder.embed(['x'.repeat(150_000), 'y'.repeat(150_000)], fakeCall());
    expect(received).toHaveLength(2);
    expect(await embedder.embed([], fakeCall())).toEqual([]);
  });

  it('takes a wrong number of vectors as a bad response', async () => {
    options.raw = () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"data":[{"embedding":[1,2]}]}',
    });
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      sleep: (ms: number) => (ms > 60_000 ? new Promise<void>(() => {}) : Promise.resolve()),
    };
    const embedder = await testFactory({ clock }).embedder({
      model_id: 'openai-compatible:e',
      base_url: server.baseUrl,
    });
    await expect(embedder.embed(texts, fakeCall())).rejects.toMatchObject({ kind: 'bad_response' });
  });
});
