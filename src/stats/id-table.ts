/** Two 32-bit hashes of a text: multiply-xor lanes with the finaliser of MurmurHash3 (Appleby). Not for secrets. */
function hash64(text: string): { high: number; low: number } {
  let high = 0x9747b28c;
  let low = 0x3c6ef372;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low ^ unit, 0xc2b2ae35);
    low ^= low >>> 13;
  }
  return { high: finalise(high ^ text.length), low: finalise(low ^ Math.imul(text.length, 0x9e3779b1)) };
}

function finalise(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Numbers distinct texts 0, 1, 2, ... without keeping them: 64 bits of hash each, so that a million ids take some 20 MB.
 * Two of a million texts meet with a chance of about 3 in 10^8.
 */
export class IdTable {
  /** Open addressing; 0 is empty, else the id plus one. */
  private slots = new Uint32Array(1024);
  private high = new Uint32Array(512);
  private low = new Uint32Array(512);
  size = 0;

  /** The number of a text; a new one gets the next. */
  idOf(text: string): number {
    return this.idOfHash(hash64(text));
  }

  /** Takes in the texts of another table, and gives its number here for each number there. */
  adopt(other: IdTable): Uint32Array {
    return Uint32Array.from({ length: other.size }, (_, id) =>
      this.idOfHash({ high: other.high[id] as number, low: other.low[id] as number }),
    );
  }

  private idOfHash({ high, low }: { high: number; low: number }): number {
    let slot = this.find(high, low);
    const known = this.slots[slot] as number;
    if (known > 0) return known - 1;
    if (this.size === this.high.length) {
      this.grow();
      slot = this.find(high, low);
    }
    this.high[this.size] = high;
    this.low[this.size] = low;
    this.size += 1;
    this.slots[slot] = this.size;
    return this.size - 1;
  }

  /** Whether a text has a number already. */
  has(text: string): boolean {
    const { high, low } = hash64(text);
    return (this.slots[this.find(high, low)] as number) > 0;
  }

  /** Place of each id in an order that depends on the texts alone, not on when they came. */
  ranks(): Uint32Array {
    const order = Uint32Array.from({ length: this.size }, (_, id) => id);
    const { high, low } = this;
    order.sort((a, b) => (high[a] as number) - (high[b] as number) || (low[a] as number) - (low[b] as number));
    const ranks = new Uint32Array(this.size);
    for (let place = 0; place < order.length; place++) ranks[order[place] as number] = place;
    return ranks;
  }

  private find(high: number, low: number): number {
    const mask = this.slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const id = this.slots[slot] as number;
      if (id === 0 || (this.high[id - 1] === high && this.low[id - 1] === low)) return slot;
    }
  }

  /** At most half of the slots are in use, so that a search is short. */
  private grow(): void {
    const widen = (old: Uint32Array) => {
      const larger = new Uint32Array(old.length * 2);
      larger.set(old);
      return larger;
    };
    this.high = widen(this.high);
    this.low = widen(this.low);
    this.slots = new Uint32Array(this.slots.length * 2);
    for (let id = 0; id < this.size; id++) {
      this.slots[this.find(this.high[id] as number, this.low[id] as number)] = id + 1;
    }
  }
}
