import { memoriesText } from '../agents/memories-text.ts';
import type { AgentMemory } from '../contracts/agent.ts';
import type { MemoryTool } from '../contracts/memory.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Recall, RecallItem } from '../schema/record.ts';

/** What a defence lets through of what a memory found, in order, and what it keeps back. */
export interface Sifted {
  kept: RecallItem[];
  withheld: RecallItem[];
}

export interface MemoryFilter {
  /** The defence's name, for errors. */
  defence: string;
  sift(items: readonly RecallItem[], query: string): Sifted | Promise<Sifted>;
}

/**
 * A defence that cannot see what a memory gives cannot filter it: an arm that ran all the same would have the defence's
 * name and not its effect.
 *
 * @throws HeamsError `defence_cannot_filter`
 */
export function refuseUnseen(memory: AgentMemory, defence: string): void {
  if (memory.capabilities.external !== true) return;
  const backend = memory.backend ?? 'another system';
  throw new HeamsError(`the defence "${defence}" cannot filter the memory "${backend}"`, {
    code: 'defence_cannot_filter',
    expected: 'a memory that HEAMS searches for the agent',
    found: `${backend}: what it holds reaches the agent without passing the defence`,
    hint: 'take another memory, or a defence that works on the prompt or on the message alone',
  });
}

/**
 * The memory as an agent behind a filter meets it. Nothing that the filter keeps back gets through by any way in: not by
 * a search, and not by the text of the memory's own tools, which is written anew from the items that are kept: what a
 * tool shows beside its items, nobody has looked at.
 *
 * @throws HeamsError `defence_cannot_filter` for a memory whose content HEAMS does not see.
 */
export function filteredMemory(memory: AgentMemory, filter: MemoryFilter): AgentMemory {
  refuseUnseen(memory, filter.defence);
  const { scope } = memory;
  const tools = scope.tools?.map((tool) => filteredTool(tool, filter));
  return {
    ...memory,
    scope: {
      write: (facts) => scope.write(facts),
      ready: (signal) => scope.ready(signal),
      search: async (query, k) => siftRecall(await scope.search(query, k), filter),
      list: () => Promise.reject(unlisted(filter.defence)),
      ...(tools ? { tools } : {}),
      dispose: () => scope.dispose(),
    },
  };
}

function filteredTool({ spec, run }: MemoryTool, filter: MemoryFilter): MemoryTool {
  return {
    spec,
    async run(input) {
      const answer = await run(input);
      if (!answer.recall) return answer;
      const recall = await siftRecall(answer.recall, filter);
      return { content: memoriesText(recall.items) || 'Nothing found.', recall };
    },
  };
}

/** The recall itself where nothing was changed. The raw reply goes where anything was: it holds what was kept back. */
async function siftRecall(recall: Recall, { sift }: MemoryFilter): Promise<Recall> {
  if (recall.items.length === 0) return recall;
  const { kept, withheld } = await sift(recall.items, recall.query);
  if (withheld.length === 0) return recall;
  const { raw: _, ...rest } = recall;
  return { ...rest, items: kept, withheld: [...(recall.withheld ?? []), ...withheld] };
}

/** No agent lists its memory; one that did would get by the filter. */
const unlisted = (defence: string): HeamsError =>
  new HeamsError(`the defence "${defence}" lets nobody list the memory`, { code: 'defence_cannot_filter' });
