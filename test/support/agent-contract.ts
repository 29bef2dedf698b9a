import { describe, expect, it } from 'vitest';
import type { Agent, AgentMemory, Labels, Task } from '../../src/contracts/agent.ts';
import type { MemoryScope } from '../../src/contracts/memory.ts';
import { type Fact, replySchema } from '../../src/schema/record.ts';
import { fakeCall } from './fake-call.ts';

export const facts: readonly Fact[] = [
  { id: 'f0', key: 'Name', text: 'Name: Zoë Müller' },
  { id: 'f1', key: 'Illness', text: 'Illness: type-2 diabetes' },
  { id: 'f2', key: 'Chat', text: 'Chat: Mum: how are you?\nZoë: my DIABETES is better' },
];
export const labels: Labels = { allowed: facts.slice(0, 1), secrets: ['diabetes', 'type-2 diabetes'] };
export const task: Task = {
  turns: [{ role: 'user', content: 'Please do this: book a table.' }],
  query: 'book a table',
  variables: { user_task: 'book a table', recipient: 'the restaurant' },
};

export interface FakeMemory extends AgentMemory {
  /** Every search, as `query / k`. */
  readonly searches: readonly string[];
}

/** A memory of the given facts that finds the first k of them for every query, and notes what it is asked. */
export function fakeMemory(stored: readonly Fact[] = facts, topK = 5): FakeMemory {
  const searches: string[] = [];
  const scope: MemoryScope = {
    write: () => Promise.reject(new Error('an agent does not write')),
    ready: async () => {},
    async search(query, k) {
      searches.push(`${query} / ${k}`);
      const items = stored.slice(0, k).map(({ id, text }) => ({ text, fact_ids: [id] }));
      return { query, requested_k: k, items };
    },
    list: () => Promise.reject(new Error('an agent does not list')),
    dispose: () => Promise.reject(new Error('an agent does not dispose of its memory')),
  };
  const capabilities = {
    stores: true,
    rewrites: false,
    provenance: true,
    honours_k: true,
    needs_network: false,
    needs_key: false,
  };
  return { scope, scopeId: 'scope0', topK, capabilities, searches };
}

export interface AgentContractOptions {
  seesLabels: boolean;
  /** How often it searches for one task. */
  searches: number;
}

/** What every agent promises, whatever it is made of. Runs as one `describe` block. */
export function agentContract(name: string, makeAgent: () => Promise<Agent>, options: AgentContractOptions): void {
  const given: Task = options.seesLabels ? { ...task, labels } : task;

  describe(`agent contract: ${name}`, () => {
    it('declares whether it sees labels, and has a name', async () => {
      const agent = await makeAgent();
      expect(agent.seesLabels).toBe(options.seesLabels);
      expect(agent.name).not.toBe('');
    });

    it('gives a reply that can be recorded, with every search in it', async () => {
      const memory = fakeMemory();
      const reply = await (await makeAgent()).respond(given, memory, fakeCall());
      expect(replySchema.parse(reply)).toEqual(reply);
      expect(memory.searches.length).toBe(options.searches);
      expect(reply.recalls.map(({ query, requested_k }) => `${query} / ${requested_k}`)).toEqual(memory.searches);
    });

    it('copes with a memory that holds nothing', async () => {
      const reply = await (await makeAgent()).respond(given, fakeMemory([]), fakeCall());
      expect(replySchema.parse(reply)).toEqual(reply);
      for (const recall of reply.recalls) expect(recall.items).toEqual([]);
    });

    it('leaves the task as it is', async () => {
      const before = structuredClone(given);
      await (await makeAgent()).respond(given, fakeMemory(), fakeCall());
      expect(given).toEqual(before);
    });

    it('gives up when the call is aborted', async () => {
      const reason = new Error('stop');
      const agent = await makeAgent();
      const memory = fakeMemory();
      const call = fakeCall({ signal: AbortSignal.abort(reason) });
      await expect(agent.respond(given, memory, call)).rejects.toBe(reason);
      expect(memory.searches).toEqual([]);
    });

    it.skipIf(!options.seesLabels)('refuses to guess where it needs labels and is given none', async () => {
      const agent = await makeAgent();
      await expect(agent.respond(task, fakeMemory(), fakeCall())).rejects.toMatchObject({ code: 'agent_needs_labels' });
    });
  });
}
