/**
 * Adds numbers without rounding on the way, so that the sum does not depend on their order. Keeps the sum as a few
 * non-overlapping parts (Shewchuk, "Adaptive precision floating-point arithmetic", Discrete Comput. Geom. 18, 1997).
 */
export class ExactSum {
  /** Non-overlapping, in rising magnitude. */
  private parts: number[] = [];

  add(value: number): void {
    let x = value;
    let kept = 0;
    for (let y of this.parts) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low !== 0) this.parts[kept++] = low;
      x = high;
    }
    this.parts[kept] = x;
    this.parts.length = kept + 1;
  }

  /** Adds all that another sum holds. */
  merge(other: ExactSum): void {
    for (const part of other.parts.slice()) this.add(part);
  }

  /** The sum, rounded once (to nearest, ties to even), so that it depends on the set of numbers alone. */
  get value(): number {
    let last = this.parts.length - 1;
    if (last < 0) return 0;
    let total = this.parts[last] as number;
    let rest = 0;
    while (last > 0 && rest === 0) {
      const before = total;
      last -= 1;
      const part = this.parts[last] as number;
      total = before + part;
      rest = part - (total - before);
    }
    // A tie was rounded to even, but what lies below it points away from there: round the other way.
    const next = last > 0 ? (this.parts[last - 1] as number) : 0;
    if (rest * next > 0) {
      const doubled = rest * 2;
      const other = total + doubled;
      if (doubled === other - total) total = other;
    }
    return total;
  }
}
