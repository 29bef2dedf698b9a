/** A text that a search found, by its position in the order of adding. */
export interface Hit {
  position: number;
  /** Higher is better; absent where the search does not rank. */
  score?: number;
}

/** Finds among the texts it was given. Positions count from 0 over all calls of `add`. */
export interface TextIndex {
  /** Adds all the texts or, when it rejects, none. */
  add(texts: readonly string[]): Promise<void>;
  /** At most `k` hits, best first; equal scores in the order of adding. */
  search(query: string, k: number): Promise<Hit[]>;
}

/** The `k` best scored hits, best first; ties go to the text that was added first, so that a search is repeatable. */
export function best(hits: Iterable<Required<Hit>>, k: number): Required<Hit>[] {
  return [...hits].sort((a, b) => b.score - a.score || a.position - b.position).slice(0, k);
}
