import { Tail } from '../lib/tail.ts';

export interface FrameReaderOptions {
  /** What every frame begins with: text that nothing else prints. */
  token: string;
  /** Bytes of a frame at most. */
  limit: number;
  onFrame(bytes: Uint8Array): void;
  /** A frame went beyond the limit; nothing more is read. */
  onTooLarge(): void;
}

const NEWLINE = 0x0a;
const CHATTER_KEPT = 2000;

/**
 * Finds frames in what a program prints: the token, one space, then a line. All else is chatter, also on the same line in
 * front of the token: libraries print what they like, and cannot know the token. Chatter is forgotten but for its end.
 */
export class FrameReader {
  readonly chatter = new Tail(CHATTER_KEPT);
  readonly #options: FrameReaderOptions;
  readonly #mark: Buffer;
  /** What is read and not told apart yet: the start of a mark, or of a frame. */
  #rest: Buffer = Buffer.alloc(0);
  #inFrame = false;
  #closed = false;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
    this.#mark = Buffer.from(`${options.token} `);
  }

  push(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    while (!this.#closed && (this.#inFrame ? this.#takeFrame() : this.#findMark()));
  }

  /** Reads nothing more: what a program says after it was given up is nobody's. */
  close(): void {
    this.#closed = true;
    this.#rest = Buffer.alloc(0);
  }

  /** Whether a frame has begun whose end is not there yet. */
  get unfinished(): boolean {
    return this.#inFrame && !this.#closed;
  }

  #findMark(): boolean {
    const at = this.#rest.indexOf(this.#mark);
    // The last bytes may be the beginning of a mark.
    const end = at === -1 ? Math.max(0, this.#rest.length - this.#mark.length + 1) : at;
    this.chatter.push(this.#rest.subarray(0, end));
    this.#rest = this.#rest.subarray(at === -1 ? end : at + this.#mark.length);
    this.#inFrame = at !== -1;
    return this.#inFrame;
  }

  #takeFrame(): boolean {
    const end = this.#rest.indexOf(NEWLINE);
    if ((end === -1 ? this.#rest.length : end) > this.#options.limit) {
      this.close();
      this.#options.onTooLarge();
      return false;
    }
    if (end === -1) return false;
    const frame = this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(end + 1);
    this.#inFrame = false;
    this.#options.onFrame(frame);
    return true;
  }
}
