/** Keeps the last bytes of a stream, for an error that tells what was printed before it. */
export class Tail {
  readonly #limit: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(bytes: Uint8Array): void {
    const recent = bytes.subarray(Math.max(0, bytes.length - this.#limit));
    this.#kept = Buffer.concat([this.#kept, recent]).subarray(-this.#limit);
  }

  /** As text; what is not UTF-8 shows as replacement characters. */
  get text(): string {
    return this.#kept.toString('utf8');
  }
}
