import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import {
  type Loopback,
  type LoopbackOptions,
  type LoopbackRequest,
  startLoopback,
} from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import type { ChatMessage, ChatModel, ChatRequest, ToolSpec } from '../contracts/model.ts';
import type { ModelSettings } from '../schema/model-settings.ts';

let server: Loopback;
let options: LoopbackOptions;
let received: LoopbackRequest[];
beforeEach(async () => {
  received = [];
  options = { onRequest: (request) => received.push(request) };
  server = await startLoopback(options);
});
afterEach(() => server.close());

const env = {
  OPENAI_API_KEY: 'openai-key-1',
  OPENAI_ORG_ID: 'org-1',
  OPENAI_PROJECT_ID: 'proj-1',
  ANTHROPIC_API_KEY: 'anthropic-key-1',
  GEMINI_API_KEY: 'google-key-1',
  LOCAL_KEY: 'local-key-1',
};
const vendors = ['openai', 'openai-compatible', 'anthropic', 'google'] as const;
type Vendor = (typeof vendors)[number];
const models: Record<Vendor, string> = {
  openai: 'openai:gpt-4o-mini',
  'openai-compatible': 'openai-compatible:local/model:7b',
  anthropic: 'anthropic:claude-sonnet-4-5',
  google: 'google:gemini-2.5-flash',
};

function chat(vendor: Vendor, settings: Partial<ModelSettings> = {}): Promise<ChatModel> {
  const base = { model_id: models[vendor], base_url: vendor.startsWith('openai') ? server.baseUrl : server.url };
  return testFactory({ env }).chat({ ...base, ...settings });
}

const hello: ChatRequest = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello?' },
  ],
};
const verdict = {
  name: 'verdict',
  schema: {
    type: 'object',
    properties: { reasoning: { type: 'string' }, leaked: { type: 'boolean' } },
    required: ['reasoning', 'leaked'],
    additionalProperties: false,
  },
};
const search: ToolSpec = {
  name: 'search_memory',
  description: 'Looks things up.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

describe.each(vendors)('%s', (vendor) => {
  it('asks and answers, with tokens, version and finish reason', async () => {
    const call = fakeCall();
    const reply = await (await chat(vendor)).generate(hello, call);
    // 15 characters of prompt are 4 tokens and 1 for the frame; the answer has 37 characters.
    expect(reply).toMatchObject({
      text: 'This is the loopback server speaking.',
      finishReason: 'stop',
      toolRequests: [],
      usage: { inputTokens: 5, outputTokens: 10 },
    });
    const name = models[vendor].slice(vendor.length + 1);
    expect(reply.modelVersion).toBe(vendor === 'google' ? `${name}-001` : name);
    expect(call.spent.agent).toMatchObject({ calls: 1, input_tokens: 5, output_tokens: 10 });
    expect(call.spent.agent.unpriced_calls).toBe(vendor === 'openai-compatible' ? 1 : 0);
  });

  it.each([
    ['length', 'cut_off'],
    ['content_filter', 'refused'],
    ['stop', 'stop'],
  ] as const)('reads %s as %s', async (finishReason, expected) => {
    options.answer = () => ({ text: 'so', finishReason });
    expect((await (await chat(vendor)).generate(hello, fakeCall())).finishReason).toBe(expected);
  });

  it('takes an empty answer as an answer', async () => {
    options.answer = () => '';
    expect(await (await chat(vendor)).generate(hello, fakeCall())).toMatchObject({ text: '', finishReason: 'stop' });
  });

  it('carries a tool call there and back', async () => {
    options.answer = (body) =>
      body.messages.length > 2 ? 'Found it.' : { toolCalls: [{ name: 'search_memory', input: { query: 'tea' } }] };
    const model = await chat(vendor);
    const asked = await model.generate({ ...hello, tools: [search] }, fakeCall());
    expect(asked.finishReason).toBe('tool_calls');
    expect(asked.toolRequests).toMatchObject([{ name: 'search_memory', input: { query: 'tea' } }]);
    const [request] = asked.toolRequests;
    const messages: ChatMessage[] = [
      ...hello.messages,
      { role: 'assistant', content: asked.text, toolRequests: asked.toolRequests },
      { role: 'tool', id: request?.id ?? '', name: 'search_memory', content: 'green tea' },
    ];
    const done = await model.generate({ messages, tools: [search], toolChoice: 'none' }, fakeCall());
    expect(done).toMatchObject({ text: 'Found it.', finishReason: 'stop' });
    const sent = JSON.stringify(received[1]?.body);
    expect(sent).toContain('green tea');
    expect(sent).toContain('search_memory');
    expect(sent.toLowerCase()).toContain('none');
    // Gemini gets back what it signed.
    expect(sent.includes('signature-of-search_memory')).toBe(vendor === 'google');
  });

  it('sends a JSON schema and gets JSON', async () => {
    const model = await chat(vendor);
    expect(model.structuredOutput).toBe(true);
    const reply = await model.generate({ ...hello, jsonSchema: verdict }, fakeCall());
    expect(JSON.parse(reply.text)).toEqual({ reasoning: 'loopback', leaked: false });
  });

  it('asks in words when told that the server takes no schema', async () => {
    const model = await chat(vendor, { structured_output: false });
    expect(model.structuredOutput).toBe(false);
    await model.generate({ ...hello, jsonSchema: verdict }, fakeCall());
    const sent = JSON.stringify(received[0]?.body);
    expect(sent).toContain('It must fit this JSON schema');
    expect(sent).not.toMatch(/response_format|responseSchema|output_config/);
  });

  it('falls back to words once when the server rejects the schema, and remembers', async () => {
    const rejected = /response_format|responseSchema|output_config/;
    options.raw = ({ body }) =>
      rejected.test(JSON.stringify(body))
        ? { status: 400, body: '{"error":{"message":"response_format json_schema is not supported"}}' }
        : undefined;
    const model = await chat(vendor);
    const first = await model.generate({ ...hello, jsonSchema: verdict }, fakeCall());
    expect(first.warnings).toEqual(expect.arrayContaining([expect.stringContaining('asked in words')]));
    expect(model.structuredOutput).toBe(false);
    await model.generate({ ...hello, jsonSchema: verdict }, fakeCall());
    expect(received.map(({ body }) => rejected.test(JSON.stringify(body)))).toEqual([true, false, false]);
  });
});

describe('request shapes', () => {
  const settings = { temperature: 0.3, top_p: 0.9, max_tokens: 77, seed: 11, headers: { 'x-team': 'blue' } };

  it('openai: chat completions with key, organization, project, sampling and strict schema', async () => {
    await (await chat('openai', settings)).generate({ ...hello, jsonSchema: verdict }, fakeCall());
    const [{ path, headers, body }] = received as [LoopbackRequest];
    expect(path).toBe('/v1/chat/completions');
    expect(headers).toMatchObject({
      authorization: 'Bearer openai-key-1',
      'openai-organization': 'org-1',
      'openai-project': 'proj-1',
      'x-team': 'blue',
    });
    expect(body).toMatchObject({ model: 'gpt-4o-mini', temperature: 0.3, top_p: 0.9, max_tokens: 77, seed: 11 });
    expect(body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'verdict', strict: true, schema: verdict.schema },
    });
  });

  it('openai: leaves out what is not configured, and temperature for reasoning models with a warning', async () => {
    await (await chat('openai')).generate(hello, fakeCall());
    expect(Object.keys(received[0]?.body ?? {}).sort()).toEqual(['messages', 'model']);
    const reply = await (await chat('openai', { model_id: 'openai:o4-mini', temperature: 0, max_tokens: 50 })).generate(
      hello,
      fakeCall(),
    );
    expect(received[1]?.body).toMatchObject({ max_completion_tokens: 50 });
    expect(received[1]?.body).not.toHaveProperty('temperature');
    expect(reply.warnings).toEqual(['unsupported: temperature (temperature is not supported for reasoning models)']);
  });

  it('openai-compatible: no key unless one is named', async () => {
    await (await chat('openai-compatible', settings)).generate(hello, fakeCall());
    await (await chat('openai-compatible', { ...settings, api_key_env: 'LOCAL_KEY' })).generate(hello, fakeCall());
    expect(received.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer local-key-1']);
    expect(received[0]?.body).toMatchObject({ model: 'local/model:7b', temperature: 0.3, max_tokens: 77, seed: 11 });
  });

  it('anthropic: messages with version, key, output format, and a warning for the seed it has not', async () => {
    const { top_p: _, ...rest } = settings;
    const model = await chat('anthropic', rest);
    const reply = await model.generate({ ...hello, jsonSchema: verdict }, fakeCall());
    const [{ path, headers, body }] = received as [LoopbackRequest];
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({
      'x-api-key': 'anthropic-key-1',
      'anthropic-version': '2023-06-01',
      'x-team': 'blue',
    });
    expect(body).toMatchObject({ model: 'claude-sonnet-4-5', temperature: 0.3, max_tokens: 77 });
    expect(body.output_config).toMatchObject({ format: { type: 'json_schema' } });
    expect(reply.warnings).toContain('unsupported: seed');
  });

  it('anthropic: an older model takes the schema as a tool', async () => {
    options.answer = () => ({ toolCalls: [{ name: 'json', input: { reasoning: 'r', leaked: true } }] });
    const model = await chat('anthropic', { model_id: 'anthropic:claude-3-haiku-20240307' });
    const reply = await model.generate({ ...hello, jsonSchema: verdict }, fakeCall());
    expect(JSON.parse(reply.text)).toEqual({ reasoning: 'r', leaked: true });
    expect(reply).toMatchObject({ toolRequests: [], finishReason: 'stop' });
  });

  it('google: generateContent with key, sampling and schema', async () => {
    await (await chat('google', settings)).generate({ ...hello, jsonSchema: verdict }, fakeCall());
    const [{ path, headers, body }] = received as [LoopbackRequest];
    expect(path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(headers).toMatchObject({ 'x-goog-api-key': 'google-key-1', 'x-team': 'blue' });
    expect(body.generationConfig).toMatchObject({
      temperature: 0.3,
      topP: 0.9,
      maxOutputTokens: 77,
      seed: 11,
      responseMimeType: 'application/json',
    });
  });

  it('lets a request ask for more room than the settings', async () => {
    await (await chat('openai', settings)).generate({ ...hello, maxTokens: 500 }, fakeCall());
    expect(received[0]?.body.max_tokens).toBe(500);
  });

  it('reads tool arguments that are not JSON as text, and "stop" beside tool calls as tool calls', async () => {
    options.answer = () => ({ finishReason: 'stop', toolCalls: [{ name: 'search_memory', input: '{"query":' }] });
    const reply = await (await chat('openai-compatible')).generate({ ...hello, tools: [search] }, fakeCall());
    expect(reply).toMatchObject({ finishReason: 'tool_calls', toolRequests: [{ input: '{"query":' }] });
  });

  it('counts a call as unpriced when the server reports no tokens', async () => {
    options.usage = false;
    for (const vendor of vendors) {
      const call = fakeCall();
      const reply = await (await chat(vendor)).generate(hello, call);
      expect(reply.usage).toEqual({});
      expect(call.spent.agent).toMatchObject({ calls: 1, input_tokens: 0, unpriced_calls: 1 });
    }
  });
});

describe('builtin', () => {
  it('echoes, or says nothing, and costs nothing', async () => {
    const factory = testFactory();
    const call = fakeCall();
    expect(await (await factory.chat({ model_id: 'builtin:echo' })).generate(hello, call)).toMatchObject({
      text: 'Hello?',
    });
    expect(await (await factory.chat({ model_id: 'builtin:empty' })).generate(hello, call)).toMatchObject({ text: '' });
    expect(call.spent.agent).toMatchObject({ calls: 2, cost_usd: 0, unpriced_calls: 0 });
  });
});
