/** Adds counts to counts of the same names, in place. */
export function addCounts<K extends string>(sums: Record<K, number>, added: Readonly<Record<K, number>>): void {
  for (const key of Object.keys(sums) as K[]) sums[key] += added[key];
}
