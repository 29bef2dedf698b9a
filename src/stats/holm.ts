/**
 * P-values adjusted for a family of tests by the step-down procedure of S. Holm ("A simple sequentially rejective
 * multiple test procedure", Scand. J. Statist. 6, 1979, 65-70): sorted p_(1) <= ... <= p_(m), the adjusted value of
 * p_(i) is max over j <= i of min(1, (m - j + 1) p_(j)). Holds the chance of any false finding in the family at the
 * level, however the tests depend on each other. The result is in the order of the input.
 */
export function holmAdjusted(values: readonly number[]): number[] {
  for (const p of values) if (!(p >= 0 && p <= 1)) throw new RangeError(`not a p-value: ${p}`);
  const order = values.map((_, i) => i).sort((a, b) => (values[a] as number) - (values[b] as number));
  const adjusted = new Array<number>(values.length);
  let largest = 0;
  for (const [step, i] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (values.length - step) * (values[i] as number)));
    adjusted[i] = largest;
  }
  return adjusted;
}
