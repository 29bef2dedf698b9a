/** Number of single-character insertions, deletions and substitutions between two words (Levenshtein, 1966). */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] as number) + 1, (current[j - 1] as number) + 1, substituted));
    }
    previous = current;
  }
  return previous[b.length] as number;
}

/** The candidate that a misspelled word most likely meant, if any is close enough to be worth naming. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length);
    // Words whose lengths alone are too far apart need no table, however long the word.
    if (longer - Math.min(word.length, candidate.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    // Two short words with nothing in common are not near, however few letters it takes to replace them all.
    if (distance < bestDistance && distance < longer) [best, bestDistance] = [candidate, distance];
  }
  return best;
}
