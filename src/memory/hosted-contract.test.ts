import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import {
  KEY,
  make,
  mem0System,
  type System,
  supermemorySystem,
  systems,
  zepSystem,
} from '../../test/support/hosted-systems.ts';
import type { LoopbackService } from '../../test/support/loopback-service.ts';
import { memoryContract, pool } from '../../test/support/memory-contract.ts';

const hosted = {
  stores: true,
  rewrites: true,
  provenance: true,
  honours_k: true,
  needs_network: true,
  needs_key: true,
};
const contracts = [
  { system: mem0System, file: {}, capabilities: hosted },
  { system: mem0System, file: { infer: false }, capabilities: { ...hosted, rewrites: false } },
  { system: mem0System, file: { add_by: 'session' }, capabilities: { ...hosted, provenance: false } },
  { system: zepSystem, file: {}, capabilities: hosted },
  { system: zepSystem, file: { scope: 'episodes' }, capabilities: { ...hosted, rewrites: false } },
  { system: supermemorySystem, file: {}, capabilities: hosted },
  { system: supermemorySystem, file: { search_mode: 'documents' }, capabilities: hosted },
  { system: supermemorySystem, file: { max_concurrency: 4 }, capabilities: { ...hosted, max_concurrency: 4 } },
];

for (const { system, file, capabilities } of contracts) {
  describe(`${system.plugin.name} through its real client`, () => {
    let service: LoopbackService;
    beforeAll(async () => {
      service = await system.start({ apiKey: KEY, faults: { looksUntilDone: 2 } });
    });
    afterAll(() => service.close());
    memoryContract(
      `${system.plugin.name} ${JSON.stringify(file)}`,
      () => make({ system, service, file: { ...file, poll_interval_s: 0.001 } }),
      { capabilities },
    );
  });
}

describe('what goes over the wire', () => {
  const at = '2024-03-01T10:00:00Z';
  const facts = [
    { id: 'f0', key: 'Name', text: 'Name: Zoë', at, session: 'one' },
    { id: 'f1', key: 'Room', text: 'Room: 12', at, session: 'one' },
    { id: 'f2', key: 'Pet', text: 'Pet: cat', session: 'two' },
  ];
  async function written(system: System, file: object, path: string) {
    const service = await system.start({ apiKey: KEY });
    const scope = await (await make({ system, service, file })).open('abc', fakeCall());
    await scope.write(facts);
    await scope.ready(new AbortController().signal);
    await scope.search('pets', 4);
    await scope.dispose();
    await service.close();
    const bodiesOf = (wanted: string) => service.requests.filter((one) => one.path === wanted).map(({ body }) => body);
    return { added: bodiesOf(path), bodiesOf };
  }

  it('mem0_cloud: a fact an add, with its time and where it is from; the threshold off', async () => {
    const { added, bodiesOf } = await written(mem0System, { namespace: 'lab' }, '/v3/memories/add/');
    expect(added[0]).toEqual({
      messages: [{ role: 'user', content: 'Name: Zoë' }],
      user_id: 'lab-abc',
      infer: true,
      metadata: { heams_scope: 'lab-abc', fact_ids: ['f0'], told_at: [at] },
      timestamp: 1_709_287_200,
    });
    expect(added.length).toBe(3);
    expect(bodiesOf('/v3/memories/search/')).toEqual([
      { query: 'pets', output_format: 'v1.1', top_k: 4, threshold: 0, filters: { user_id: 'lab-abc' } },
    ]);
  });

  it('mem0_cloud: a session an add', async () => {
    const { added } = await written(mem0System, { add_by: 'session' }, '/v3/memories/add/');
    expect(added.map(({ messages }) => messages.length)).toEqual([2, 1]);
    expect(added[0].metadata).toEqual({ heams_scope: 'heams-abc', fact_ids: [], told_at: [at, at] });
  });

  it('zep: an episode a fact, with its time', async () => {
    const { added, bodiesOf } = await written(zepSystem, {}, '/graph');
    expect(added[0]).toEqual({
      user_id: 'heams-abc',
      type: 'text',
      data: 'Name: Zoë',
      metadata: { fact_id: 'f0' },
      created_at: at,
    });
    expect(bodiesOf('/graph/search')).toEqual([{ user_id: 'heams-abc', query: 'pets', limit: 4, scope: 'edges' }]);
  });

  it('supermemory: a document a fact, its memories formed at once', async () => {
    const { added, bodiesOf } = await written(supermemorySystem, {}, '/v3/documents');
    expect(added[0]).toEqual({
      content: 'Name: Zoë',
      containerTag: 'heams-abc',
      metadata: { heams_scope: 'heams-abc', fact_id: 'f0', told_at: at },
      dreaming: 'instant',
    });
    expect(bodiesOf('/v4/search')).toEqual([
      {
        q: 'pets',
        containerTag: 'heams-abc',
        limit: 4,
        threshold: 0,
        searchMode: 'memories',
        include: { documents: true },
      },
    ]);
  });
});

describe('supermemory', () => {
  it('finds memories and pieces of documents at once, and tells whose a piece is by its metadata', async () => {
    const service = await supermemorySystem.start({ apiKey: KEY });
    for (const search_mode of ['hybrid', 'documents']) {
      const memory = await make({ system: supermemorySystem, service, file: { search_mode } });
      const [mine, theirs] = [await memory.open('mine', fakeCall()), await memory.open('theirs', fakeCall())];
      await mine.write(pool.slice(0, 2));
      await theirs.write(pool.slice(2, 4));
      for (const scope of [mine, theirs]) await scope.ready(new AbortController().signal);
      expect((await mine.list()).length).toBe(search_mode === 'hybrid' ? 4 : 2);
      service.faults.leaks = true;
      const { items } = await mine.search('name', 3);
      expect(items.map(({ fact_ids: ids }) => ids)).toContainEqual(['f0']);
      expect(items.flatMap(({ fact_ids: ids }) => ids).filter((id) => !['f0', 'f1'].includes(id)).length).toBe(1);
      service.faults.leaks = false;
      for (const scope of [mine, theirs]) await scope.dispose();
    }
    await service.close();
  });
});

describe('more than a page', () => {
  it.each(systems)('is read back whole ($plugin.name)', async (system) => {
    const facts = Array.from({ length: 230 }, (_, i) => ({ id: `f${i}`, key: 'Room', text: `Room: ${i}` }));
    const service = await system.start({ apiKey: KEY });
    const scope = await (await make({ system, service })).open('long', fakeCall());
    await scope.write(facts);
    await scope.ready(new AbortController().signal);
    expect((await scope.list()).map(({ text }) => text)).toEqual(facts.map(({ text }) => text));
    await scope.dispose();
    await service.close();
  });
});
