/** The first `limit` of any number of values in a total order, whatever order they come in. */
export class TopList<T> {
  readonly limit: number;
  private readonly compare: (a: T, b: T) => number;
  private readonly kept: T[] = [];

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.limit = limit;
    this.compare = compare;
  }

  add(value: T): void {
    const last = this.kept.at(-1);
    if (this.kept.length === this.limit && (last === undefined || this.compare(value, last) >= 0)) return;
    let at = this.kept.length;
    while (at > 0 && this.compare(value, this.kept[at - 1] as T) < 0) at -= 1;
    this.kept.splice(at, 0, value);
    if (this.kept.length > this.limit) this.kept.pop();
  }

  merge(other: TopList<T>): void {
    for (const value of other.kept) this.add(value);
  }

  get values(): readonly T[] {
    return this.kept;
  }
}
