/** Adds counts to counts of the same names, in place; a name that is not among the added ones stays as it is. */
export function addCounts<K extends string>(
  sums: Record<K, number>,
  added: Readonly<Partial<Record<K, number>>>,
): void {
  for (const key of Object.keys(added) as K[]) sums[key] += added[key] ?? 0;
}
