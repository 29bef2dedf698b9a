import { seededRandom } from '../../lib/random.ts';
import { Haystack } from './haystack.ts';
import { hashOfSample } from './rows.ts';
import type { CiSample } from './sample.ts';
import { dated, mingled } from './sessions.ts';

/** How the pools of a benchmark are made larger and longer; nothing of it changes what is judged. */
export interface PoolOptions {
  haystack: number;
  sessions: number;
  seed: number;
}

/**
 * The samples with `haystack` facts of others in each pool and each pool spread over `sessions` dated sessions; 0 leaves
 * a pool as it is. Distractors come from the whole `dataset`, of which `samples` may be a part.
 *
 * @throws HeamsError `haystack_too_small` where the dataset has too few facts that collide with nothing of a sample.
 */
export function withPools(
  samples: readonly CiSample[],
  dataset: readonly CiSample[],
  { haystack, sessions, seed }: PoolOptions,
): CiSample[] {
  if (haystack === 0 && sessions === 0) return [...samples];
  const stack = haystack > 0 ? new Haystack(dataset, { n: haystack, seed }) : undefined;
  return samples.map((sample) => {
    const random = seededRandom(seed, 'pool', sample.id);
    const pieces = mingled(sample.facts, stack?.conversationsFor(sample) ?? [], random);
    const facts = sessions > 0 ? dated(pieces, sessions, random) : pieces.flat();
    return { ...sample, facts, hash: hashOfSample({ ...sample, facts }) };
  });
}
