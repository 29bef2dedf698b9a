import type { Agent, AgentMemory } from '../../contracts/agent.ts';
import type { CallContext } from '../../contracts/call.ts';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../../contracts/memory.ts';
import type { BenchmarkPlugin } from '../../contracts/plugin.ts';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { openGuarded } from '../../run/guarded-scope.ts';
import { prime } from '../../run/prime.ts';
import type { Fact } from '../../schema/record.ts';
import type { RunFile } from '../../schema/run-file.ts';
import { type Finding, ok, problem } from './check.ts';
import type { LookOptions } from './needs.ts';

const facts: readonly Fact[] = [
  { id: 'd0', key: 'Colour of the door', text: 'Colour of the door: green' },
  { id: 'd1', key: 'Kind of tree', text: 'Kind of tree: an old chestnut' },
];

export interface LiveOptions extends LookOptions {
  call: CallContext;
  settings: Pick<RunFile, 'memory_ready_timeout_s' | 'memory_timeout_s'>;
  /** Names the throwaway scope. */
  scopeId: string;
}

/** Writes two facts to a throwaway scope, reads them back, searches for one, and disposes of the scope. */
export function writeAndRecall(memory: MemoryBackend, options: LiveOptions): Promise<Finding> {
  const check = 'write and recall';
  return caught(check, options, async () => {
    const { call, settings, host, signal, scopeId } = options;
    const { capabilities } = memory;
    const guard = { capabilities, facts, timeoutS: settings.memory_timeout_s, clock: host.clock, signal };
    const since = host.clock.monotonic();
    const scope = await openGuarded(memory, scopeId, { ...guard, call });
    try {
      const readyTimeoutS = settings.memory_ready_timeout_s;
      const stored = await prime(scope, facts, { capabilities, readyTimeoutS, clock: host.clock, signal });
      const found = capabilities.external ? [] : (await scope.search(facts[0]?.text ?? '', memory.topK)).items;
      await scope.dispose();
      const took = `${Math.round(host.clock.monotonic() - since)} ms`;
      if (capabilities.external) return ok(check, `told in ${took}; nobody but the agent can search it`);
      if (!capabilities.stores) return ok(check, 'keeps nothing, by design');
      if (found.length > 0) return ok(check, `kept ${stored.length}, found ${found.length}, in ${took}`);
      throw new HeamsError('what was written could be read back, and a search for its own words found nothing', {
        code: 'memory_finds_nothing',
        hint: 'look at how the memory searches: with it, no agent recalls anything',
      });
    } catch (error) {
      await scope.dispose().catch(() => undefined);
      throw error;
    }
  });
}

const capabilities: MemoryCapabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
};

/** A memory of this process that holds two facts, for an agent to be asked over. */
function heldMemory(scopeId: string): AgentMemory {
  const items = facts.map(({ id, text }) => ({ text, fact_ids: [id] }));
  const scope: MemoryScope = {
    write: async () => {},
    ready: async () => {},
    search: async (query, k) => ({ query, requested_k: k, items: items.slice(0, k) }),
    list: async () => items,
    dispose: async () => {},
  };
  return { scope, scopeId, topK: 1, capabilities };
}

/** Asks an agent for one turn. What it says is not looked at. */
export function oneTurn(agent: Agent, benchmark: BenchmarkPlugin, options: LiveOptions): Promise<Finding> {
  const check = 'one turn';
  return caught(check, options, async () => {
    const { host, call, scopeId } = options;
    const since = host.clock.monotonic();
    const variables = Object.fromEntries(benchmark.offers.map((name) => [name, 'ping']));
    const { message } = await agent.respond(
      {
        turns: [{ role: 'user', content: 'ping' }],
        query: 'ping',
        variables,
        ...(agent.seesLabels ? { labels: { allowed: facts, secrets: [] } } : {}),
      },
      heldMemory(scopeId),
      { ...call, stage: 'agent' },
    );
    return ok(check, `${message.length} characters in ${Math.round(host.clock.monotonic() - since)} ms`);
  });
}

export type Built<T> = { made: T } | { finding: Finding };

/** Builds something, or says why it cannot be built. */
export async function built<T>(check: string, options: LookOptions, make: () => Promise<T>): Promise<Built<T>> {
  let made: { made: T } | undefined;
  const finding = await caught(check, options, async () => {
    made = { made: await make() };
    return ok(check, 'built');
  });
  return made ?? { finding };
}

async function caught(check: string, { signal }: LookOptions, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const known = error instanceof HeamsError ? error : new HeamsError(messageOf(error), { code: 'internal' });
    return problem(check, known, 'failed');
  }
}
