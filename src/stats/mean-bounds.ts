/**
 * The lowest mean that values can have when some of them (`optional`) need not belong. Taking the optional values from
 * the smallest up, while they lie below the mean so far, is best: a value above the mean can only raise it.
 * Undefined when there is nothing to average.
 */
export function lowestMean(fixed: Float64Array, optional: Float64Array): number | undefined {
  let total = 0;
  let count = 0;
  for (const value of fixed) {
    total += value;
    count += 1;
  }
  for (const value of optional.slice().sort()) {
    if (count > 0 && value * count >= total) break;
    total += value;
    count += 1;
  }
  return count === 0 ? undefined : total / count;
}

/** The highest mean of values in [0, 1], by the same reasoning. */
export function highestMean(fixed: Float64Array, optional: Float64Array): number | undefined {
  const mirrored = lowestMean(
    fixed.map((value) => 1 - value),
    optional.map((value) => 1 - value),
  );
  return mirrored === undefined ? undefined : 1 - mirrored;
}
