import { terms } from './terms.ts';
import { best, type Hit, type TextIndex } from './text-index.ts';

export interface Bm25Parameters {
  /** How slowly repeated words stop counting. */
  k1: number;
  /** How much long texts are held back, from 0 to 1. */
  b: number;
}

export const bm25Defaults: Bm25Parameters = { k1: 1.2, b: 0.75 };

/**
 * Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009), with the
 * inverse document frequency of Lucene, which is never negative:
 *
 *     score(q, d) = sum over the distinct terms t of q of
 *                   idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / average |d|))
 *     idf(t)      = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))
 *
 * A text that shares no term with the query is not a hit, so a search can find fewer than `k`.
 */
export function keywordIndex({ k1, b }: Bm25Parameters = bm25Defaults): TextIndex {
  /** For every term, how often it stands in which text. */
  const postings = new Map<string, Map<number, number>>();
  const lengths: number[] = [];
  let totalLength = 0;

  function addText(text: string): void {
    const position = lengths.length;
    const found = terms(text);
    for (const term of found) {
      const counts = postings.get(term) ?? new Map<number, number>();
      counts.set(position, (counts.get(position) ?? 0) + 1);
      postings.set(term, counts);
    }
    lengths.push(found.length);
    totalLength += found.length;
  }

  function search(query: string, k: number): Required<Hit>[] {
    const scores = new Map<number, number>();
    const averageLength = totalLength / lengths.length;
    for (const term of new Set(terms(query))) {
      const counts = postings.get(term);
      if (!counts) continue;
      const idf = Math.log(1 + (lengths.length - counts.size + 0.5) / (counts.size + 0.5));
      for (const [position, tf] of counts) {
        const relativeLength = (lengths[position] as number) / averageLength;
        const weight = (tf * (k1 + 1)) / (tf + k1 * (1 - b + b * relativeLength));
        scores.set(position, (scores.get(position) ?? 0) + idf * weight);
      }
    }
    return best(
      Array.from(scores, ([position, score]) => ({ position, score })),
      k,
    );
  }

  return {
    add: async (texts) => texts.forEach(addText),
    search: async (query, k) => search(query, k),
  };
}
