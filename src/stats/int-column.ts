type Store = Uint8Array | Uint16Array | Uint32Array;
const MAX = [0xff, 0xffff, 0xffffffff] as const;
const make = [
  (n: number): Store => new Uint8Array(n),
  (n: number): Store => new Uint16Array(n),
  (n: number): Store => new Uint32Array(n),
] as const;

/**
 * A growing column of integers from 0 to 2^32 - 1, each in as few bytes as the largest needs: a million small counts
 * take a megabyte. Anything else is a RangeError.
 */
export class IntColumn {
  private width: 0 | 1 | 2 = 0;
  private store: Store = new Uint8Array(64);
  length = 0;

  push(value: number): void {
    if (value >>> 0 !== value) throw new RangeError(`not a 32-bit count: ${value}`);
    if (value > MAX[this.width] || this.length === this.store.length) this.makeRoom(value);
    this.store[this.length] = value;
    this.length += 1;
  }

  /** Adds all numbers of another column after its own. */
  append(other: IntColumn): void {
    for (let i = 0; i < other.length; i++) this.push(other.at(i));
  }

  at(index: number): number {
    return this.store[index] as number;
  }

  private makeRoom(value: number): void {
    while (value > MAX[this.width]) this.width = (this.width + 1) as 1 | 2;
    const full = this.length === this.store.length;
    const larger = make[this.width](full ? Math.ceil(this.length * 1.5) : this.store.length);
    larger.set(this.store);
    this.store = larger;
  }
}
