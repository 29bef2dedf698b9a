import type { Sample } from '../contracts/benchmark.ts';
import { plural } from '../report/format.ts';
import type { RunnableArm } from '../run/run-benchmark.ts';

type Memories = readonly Pick<RunnableArm, 'memory' | 'memoryName'>[];

/**
 * What says before a run that a memory will have nothing to choose: for how many samples its `top_k` is at or above the
 * pool. A memory that rewrites facts may hold more or fewer items than it was given; of that the report tells afterwards.
 */
export function poolNotes(arms: Memories, samples: readonly Pick<Sample, 'facts'>[]): string[] {
  const notes = new Map<string, string>();
  for (const { memory, memoryName } of arms) {
    const { stores, honours_k, rewrites, external } = memory.capabilities;
    if (!stores || !honours_k || rewrites || external) continue;
    const covered = samples.filter(({ facts }) => memory.topK >= facts.length).length;
    if (covered === 0) continue;
    notes.set(
      memoryName,
      `memory ${memoryName}: for ${covered} of ${plural(samples.length, 'sample')} top_k ${memory.topK} is at or above the pool: there it returns everything it holds, as full_context does. Lower top_k, or give the benchmark a haystack.`,
    );
  }
  return [...notes.values()];
}
