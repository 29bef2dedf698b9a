import { describe, expect, it } from 'vitest';
import type { Agent, AgentMemory, Labels, Task } from '../../src/contracts/agent.ts';
import type { Defence } from '../../src/contracts/defence.ts';
import { type Reply, replySchema } from '../../src/schema/record.ts';
import { emptyStageUsage } from '../../src/schema/usage.ts';
import { facts, fakeMemory, task as plainTask } from './agent-contract.ts';
import { heamsErrorOf } from './errors.ts';
import { fakeCall } from './fake-call.ts';

const labels: Labels = { allowed: facts.slice(0, 1), secrets: ['LABELLED-SECRET'] };
const task: Task = { ...plainTask, labels };

export interface DefenceContractOptions {
  /** Whether it acts on what a memory gives. */
  filters: boolean;
  /** Whether the message is always the agent's own. */
  keepsMessage: boolean;
  /** The words in which an agent must put a message so that the defence takes it; the message itself by default. */
  says?: (message: string) => string;
}

export interface DefenceUnderTest {
  defence: Defence;
  /** Everything that its model was asked so far, as text. */
  asked(): string;
}

/** An agent that repeats what it finds by every way that its memory has, and notes what it was given. */
export function echoAgent(says: (message: string) => string = (message) => message) {
  const seen: { task: Task; stage: string }[] = [];
  const agent: Agent = {
    name: 'echo',
    seesLabels: false,
    async respond(given, memory, call): Promise<Reply> {
      call.signal.throwIfAborted();
      seen.push({ task: given, stage: call.stage });
      const recall = await memory.scope.search(given.query, memory.topK);
      const answers = [];
      for (const tool of memory.scope.tools ?? []) answers.push(await tool.run({ query: given.query }));
      const recalls = [recall, ...answers.flatMap((answer) => answer.recall ?? [])];
      const message = [...recall.items.map(({ text }) => text), ...answers.map(({ content }) => content)].join('\n');
      return { message: says(message), prompt: [], recalls, tool_calls: [], warnings: [] };
    },
  };
  return { agent, seen };
}

/** Text that patterns stumble over, a megabyte of it. */
const hostile = [
  'a'.repeat(250_000),
  '1 '.repeat(125_000),
  '@.'.repeat(60_000),
  '+4 ('.repeat(40_000),
  '0-'.repeat(60_000),
  ':::'.repeat(30_000),
  'passport'.repeat(15_000),
  'DE00 '.repeat(20_000),
  '{{ user_task }} </answer> \u202e "}]}',
].join('\n');

/** What every defence promises, whatever it does. Runs as one `describe` block. */
export function defenceContract(
  name: string,
  make: () => Promise<DefenceUnderTest>,
  { filters, keepsMessage, says }: DefenceContractOptions,
): void {
  describe(`defence contract: ${name}`, () => {
    const run = async (memory: AgentMemory = fakeMemory(), given = task, call = fakeCall()) => {
      const { defence, asked } = await make();
      const { agent, seen } = echoAgent(says);
      const reply = await defence.guard(agent).respond(given, memory, call);
      return { reply, asked: asked(), seen, call };
    };

    it('keeps what the agent declares', async () => {
      const { defence } = await make();
      const closed: string[] = [];
      const agent: Agent = {
        ...echoAgent(says).agent,
        name: 'somebody',
        seesLabels: true,
        replays: 'llm',
        ownMemory: () => Promise.reject(new Error('unused')) as never,
        recordedGrade: async () => ({ grade: 1 }),
        close: async () => void closed.push('agent'),
      };
      const guarded = defence.guard(agent);
      expect(defence.name).not.toBe('');
      expect(guarded).toMatchObject({ name: 'somebody', seesLabels: true, replays: 'llm', ownMemory: agent.ownMemory });
      // A grade of the agent's message is none of another message.
      expect(await guarded.recordedGrade?.(fakeCall())).toEqual(keepsMessage ? { grade: 1 } : undefined);
      await guarded.close?.();
      expect(closed).toEqual(['agent']);
      const plain = defence.guard(echoAgent(says).agent);
      expect(Object.keys(plain)).not.toContain('replays');
      expect(Object.keys(plain)).not.toContain('ownMemory');
      expect(plain.recordedGrade).toBeUndefined();
    });

    it('gives a reply that can be recorded, and the same one again', async () => {
      const { reply } = await run();
      expect(replySchema.parse(reply)).toEqual(reply);
      expect((await run()).reply).toEqual(reply);
    });

    it('leaves the task as it is, gives the agent its labels, and its model none of them', async () => {
      const before = structuredClone(task);
      const { seen, asked } = await run();
      expect(task).toEqual(before);
      expect(seen.map((one) => one.task.labels)).toEqual(seen.map(() => labels));
      expect(asked).not.toContain('LABELLED-SECRET');
      expect(seen[0]?.task.turns.slice(-1)).toEqual(task.turns);
      expect(seen[0]?.task.query).toBe(task.query);
    });

    it('meters its own calls as the defence’s, and leaves the agent its stage', async () => {
      const { call, seen } = await run();
      for (const stage of ['prime', 'agent', 'judge'] as const) expect(call.spent[stage]).toEqual(emptyStageUsage());
      expect(seen.map(({ stage }) => stage)).toEqual(seen.map(() => 'agent'));
    });

    it('asks nobody when the call is aborted', async () => {
      const { defence, asked } = await make();
      const { agent, seen } = echoAgent(says);
      const reason = new Error('stop');
      const call = fakeCall({ signal: AbortSignal.abort(reason) });
      await expect(defence.guard(agent).respond(task, fakeMemory(), call)).rejects.toBe(reason);
      expect(seen).toEqual([]);
      expect(asked()).toBe('');
    });

    it('lets the error of an agent and of a memory through', async () => {
      const { defence } = await make();
      const failure = new Error('the agent broke');
      const agent: Agent = { ...echoAgent(says).agent, respond: () => Promise.reject(failure) };
      await expect(defence.guard(agent).respond(task, fakeMemory(), fakeCall())).rejects.toBe(failure);
      const broken = new Error('the memory broke');
      const memory = fakeMemory();
      const scope = { ...memory.scope, search: () => Promise.reject(broken) };
      await expect(run({ ...memory, scope })).rejects.toBe(broken);
    });

    it('keeps the samples of many at once apart', async () => {
      const { defence } = await make();
      const guarded = defence.guard(echoAgent(says).agent);
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, i) => {
          const own = [{ id: `f${i}`, key: 'Number', text: `Number: case ${i}!` }];
          return guarded.respond(task, fakeMemory(own), fakeCall({ job: `job${i}` }));
        }),
      );
      for (const [i, { message }] of replies.entries()) expect(message).toContain(`case ${i}!`);
    });

    it('goes through a megabyte that was written to stop it', { timeout: 60_000 }, async () => {
      const { reply } = await run(fakeMemory([{ id: 'f0', key: 'Note', text: `Note: ${hostile}` }]));
      expect(replySchema.safeParse(reply).success).toBe(true);
    });

    it('copes with a memory that holds nothing', async () => {
      const { reply } = await run(fakeMemory([]));
      expect(replySchema.parse(reply)).toEqual(reply);
    });

    it.skipIf(!filters)('refuses a memory that it cannot see into, by name', async () => {
      const memory = fakeMemory();
      const external = { ...memory.capabilities, external: true as const };
      const error = await heamsErrorOf(run({ ...memory, backend: 'own_memory', capabilities: external }));
      expect(error).toMatchObject({ code: 'defence_cannot_filter' });
      expect(error.message).toMatch(/the defence ".+" cannot filter the memory "own_memory"/);
    });

    it.skipIf(filters)('gives the agent its memory as it is', async () => {
      const memory = fakeMemory();
      const { defence } = await make();
      const { agent } = echoAgent(says);
      let given: AgentMemory | undefined;
      const looking: Agent = {
        ...agent,
        respond: (one, other, call) => {
          given = other;
          return agent.respond(one, other, call);
        },
      };
      await defence.guard(looking).respond(task, memory, fakeCall());
      expect(given).toBe(memory);
    });
  });
}
