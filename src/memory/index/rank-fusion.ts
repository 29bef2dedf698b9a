import { best, type Hit } from './text-index.ts';

/** The constant of the paper, which its authors found to matter little. */
const K = 60;

/**
 * Reciprocal rank fusion (Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
 * Rank Learning Methods", SIGIR 2009): score(d) = sum over the rankings of 1 / (60 + rank of d), ranks from 1. A text
 * that a ranking does not hold gets nothing from it.
 *
 * @param rankings Each best first.
 */
export function fuseRankings(rankings: readonly (readonly Hit[])[], k: number): Hit[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [i, { position }] of ranking.entries()) {
      scores.set(position, (scores.get(position) ?? 0) + 1 / (K + i + 1));
    }
  }
  return best(
    Array.from(scores, ([position, score]) => ({ position, score })),
    k,
  );
}
