import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../../src/contracts/memory.ts';
import { type Fact, recallSchema, storedItemSchema } from '../../src/schema/record.ts';
import { fakeCall } from './fake-call.ts';
import { isolationCases } from './memory-contract-isolation.ts';

const fact = (id: string, key: string, value: string): Fact => ({ id, key, text: `${key}: ${value}` });

/** A pool with what real ones have: names, dates, identifiers, other scripts, several lines, a repeated value. */
export const pool: readonly Fact[] = [
  fact('f0', 'Name', 'Zoë Müller-Ødegård'),
  fact('f1', 'CheckInDate', 'January 15, 2024'),
  fact('f2', 'room_preferences', 'an ocean view suite in the hotel'),
  fact('f3', 'PassportNumber', 'P1234567'),
  fact('f4', '名前', '東京太郎'),
  fact('f5', 'Family chat', 'Mum: are you well?\nZoë: yes, the hotel is booked.'),
  fact('f6', 'Billing', 'January 15, 2024'),
];
const query = 'book an ocean view suite at the hotel for January 15';

/** What a system may do otherwise than most, where its makers decided so and HEAMS cannot mend it. */
export type ContractException = 'ties' | 'order' | 'long_text' | 'empty_text' | 'repeated_text' | 'ranking';

export interface MemoryContractOptions {
  /** What the backend is known to be, to hold its own declaration against. */
  capabilities: MemoryCapabilities;
  /** Cases that do not hold for this system, each with the reason. */
  exceptions?: Partial<Record<ContractException, string>>;
}

/**
 * What every memory backend promises, whatever it is made of. Runs as one `describe` block.
 *
 * @param makeBackend A working backend of its own for each call.
 */
export function memoryContract(
  name: string,
  makeBackend: () => Promise<MemoryBackend>,
  options: MemoryContractOptions,
): void {
  const { stores, rewrites, provenance, honours_k: honoursK } = options.capabilities;
  const excepted = (name: ContractException) => options.exceptions?.[name] !== undefined;
  const inOrder = (texts: string[]) => (excepted('order') ? [...texts].sort() : texts);

  describe(`memory contract: ${name}`, () => {
    let backend: MemoryBackend;
    let scopes = 0;

    beforeAll(async () => {
      backend = await makeBackend();
    });
    afterAll(async () => {
      await backend.close();
    });

    async function primed(facts: readonly Fact[], scopeId = `scope-${scopes++}`): Promise<MemoryScope> {
      const scope = await backend.open(scopeId, fakeCall({ stage: 'prime' }));
      await scope.write(facts);
      await scope.ready(new AbortController().signal);
      return scope;
    }

    it('declares what it is', () => {
      expect(backend.capabilities).toEqual(options.capabilities);
      expect(backend.name).not.toBe('');
      expect(backend.topK).toBeGreaterThan(0);
    });

    it('opens a fresh scope empty', async () => {
      const scope = await primed([]);
      expect(await scope.list()).toEqual([]);
      expect((await scope.search(query, 3)).items).toEqual([]);
      await scope.dispose();
    });

    it.skipIf(!stores || rewrites)('reads back all that was written, in order, with its source', async () => {
      const scope = await primed(pool);
      const stored = await scope.list();
      const written = pool.map(({ id, text }) => ({ text, fact_ids: provenance ? [id] : [] }));
      expect(stored.length).toBe(written.length);
      if (excepted('order')) expect(new Set(stored)).toEqual(new Set(written));
      else expect(stored).toEqual(written);
      for (const item of stored) storedItemSchema.parse(item);
      await scope.dispose();
    });

    it.skipIf(stores)('keeps nothing', async () => {
      const scope = await primed(pool);
      expect(await scope.list()).toEqual([]);
      expect((await scope.search(query, pool.length)).items).toEqual([]);
      await scope.dispose();
    });

    it.skipIf(!stores || rewrites)('appends when written to twice', async () => {
      const scope = await primed(pool.slice(0, 2));
      await scope.write(pool.slice(2));
      await scope.ready(new AbortController().signal);
      expect(inOrder((await scope.list()).map(({ text }) => text))).toEqual(inOrder(pool.map(({ text }) => text)));
      await scope.dispose();
    });

    it.skipIf(!stores || rewrites || excepted('order'))('keeps the order of writes that were not awaited', async () => {
      const scope = await backend.open(`scope-${scopes++}`, fakeCall());
      const writes = pool.map((one) => scope.write([one]));
      await scope.ready(new AbortController().signal);
      expect((await scope.list()).map(({ text }) => text)).toEqual(pool.map(({ text }) => text));
      await Promise.all(writes);
      await scope.dispose();
    });

    it('gives at most k, says what was asked for, and names sources that exist', async () => {
      const scope = await primed(pool);
      for (const k of [1, 3, pool.length, pool.length + 5]) {
        const recall = recallSchema.parse(await scope.search(query, k));
        expect(recall.query).toBe(query);
        expect(recall.requested_k).toBe(honoursK ? k : undefined);
        if (honoursK) expect(recall.items.length).toBeLessThanOrEqual(k);
        if (stores) expect(recall.items.length).toBeGreaterThan(0);
        const known = new Map(pool.map(({ id, text }) => [id, text]));
        const ids = recall.items.flatMap(({ fact_ids }) => fact_ids);
        expect(new Set(ids).size).toBe(ids.length);
        for (const item of recall.items) {
          if (!rewrites) expect(item.fact_ids.length).toBe(provenance ? 1 : 0);
          for (const id of item.fact_ids) {
            if (rewrites) expect(known.has(id)).toBe(true);
            else expect(item.text).toBe(known.get(id));
          }
        }
      }
      await scope.dispose();
    });

    it.skipIf(!stores || honoursK)('gives everything back, whatever k', async () => {
      const scope = await primed(pool);
      const recall = await scope.search('something else', 1);
      const everything = rewrites ? await scope.list() : pool;
      expect(recall.items.map(({ text }) => text)).toEqual(everything.map(({ text }) => text));
      await scope.dispose();
    });

    it.skipIf(!honoursK || excepted('ranking'))(
      'ranks: a smaller k gives the head of a larger one, and scores do not rise',
      async () => {
        const scope = await primed(pool);
        const all = (await scope.search(query, pool.length)).items;
        expect((await scope.search(query, 2)).items).toEqual(all.slice(0, 2));
        const scores = all.map(({ score }) => score ?? 0);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        if (!rewrites) expect(all[0]?.text).toBe(pool[2]?.text);
        await scope.dispose();
      },
    );

    it('gives the same answer every time', async () => {
      const answers = [];
      for (const scope of [await primed(pool), await primed(pool)]) {
        for (let i = 0; i < 2; i++) {
          const { raw: _, ...answer } = await scope.search(query, 4);
          answers.push(answer);
        }
        await scope.dispose();
      }
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    });

    it.skipIf(!stores || rewrites || excepted('ties') || excepted('repeated_text'))(
      'breaks ties by the order of writing',
      async () => {
        const twins = ['a', 'b', 'c'].map((id) => fact(id, 'Hotel', 'ocean view suite'));
        const scope = await primed(twins);
        const ids = (await scope.search('ocean view suite', 3)).items.flatMap(({ fact_ids }) => fact_ids);
        expect(ids).toEqual(provenance ? ['a', 'b', 'c'] : []);
        await scope.dispose();
      },
    );

    it('never mixes scopes that are open at once', async () => {
      const other = [fact('x0', 'Secret', 'the ocean view suite of somebody else')];
      const [mine, theirs] = await Promise.all([primed(pool), primed(other)]);
      const found = await Promise.all([mine.search('ocean view suite', 9), theirs.search('ocean view suite', 9)]);
      const texts = found.map(({ items }) => items.map(({ text }) => text).join('\n'));
      expect(texts[0]).not.toContain('somebody else');
      expect(texts[1]).not.toContain('in the hotel');
      await mine.dispose();
      expect((await theirs.list()).length).toBe(stores ? 1 : 0);
      await theirs.dispose();
    });

    it('forgets: a scope of the same id opens empty', async () => {
      const first = await primed(pool, 'again');
      await first.dispose();
      const second = await primed([], 'again');
      expect(await second.list()).toEqual([]);
      expect((await second.search(query, 3)).items).toEqual([]);
      await second.dispose();
    });

    it('refuses to be used after it was disposed of; disposing twice is fine', async () => {
      const scope = await primed(pool);
      await scope.dispose();
      await scope.dispose();
      await expect(scope.write(pool)).rejects.toThrow('disposed');
      await expect(scope.search(query, 1)).rejects.toThrow('disposed');
      await expect(scope.list()).rejects.toThrow('disposed');
      await expect(scope.ready(new AbortController().signal)).rejects.toThrow('disposed');
    });

    it.skipIf(!stores)('takes a pool of one', async () => {
      const scope = await primed([fact('only', 'Hotel', 'Überlingen am See')]);
      const recall = await scope.search('hotel in überlingen', 5);
      if (rewrites) expect(recall.items.length).toBeGreaterThan(0);
      else expect(recall.items.map(({ text }) => text)).toEqual(['Hotel: Überlingen am See']);
      await scope.dispose();
    });

    it.skipIf(!stores || rewrites || excepted('long_text'))(
      'takes a text of 100 kB and gives it back whole',
      async () => {
        const long = fact('long', 'Diary', `the ocean view suite ${'and then it rained all day. '.repeat(3700)}`);
        expect(long.text.length).toBeGreaterThan(100_000);
        const scope = await primed([fact('short', 'Colour', 'blue'), long]);
        expect((await scope.list()).map(({ text }) => text)).toContain(long.text);
        const recall = await scope.search('ocean view suite, rain', 2);
        expect(recall.items.map(({ text }) => text)).toContain(long.text);
        await scope.dispose();
      },
    );

    it('takes an empty query and an empty text', async () => {
      const scope = await primed(excepted('empty_text') ? pool : [{ id: 'e', key: '', text: '' }, ...pool]);
      for (const asked of ['', ' ', '?!', '日本語']) recallSchema.parse(await scope.search(asked, 3));
      await scope.dispose();
    });

    it('gives up when a signal aborts', async () => {
      const reason = new Error('stop');
      const scope = await primed(pool);
      await expect(scope.ready(AbortSignal.abort(reason))).rejects.toBe(reason);
      await scope.dispose();

      const control = new AbortController();
      const stopped = await backend.open('stopped', fakeCall({ signal: control.signal }));
      control.abort(reason);
      await expect(stopped.write(pool)).rejects.toBe(reason);
      await expect(stopped.search(query, 1)).rejects.toBe(reason);
      await stopped.dispose();
      await expect(backend.open('late', fakeCall({ signal: control.signal }))).rejects.toBe(reason);
    });

    it('cannot be opened after it was closed; closing twice is fine', async () => {
      const other = await makeBackend();
      await other.close();
      await other.close();
      await expect(other.open('late', fakeCall())).rejects.toThrow('closed');
    });

    isolationCases({ backend: () => backend, capabilities: options.capabilities });
  });
}
