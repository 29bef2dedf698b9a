import { open } from 'node:fs/promises';

/** One complete line of a file: its bytes without the newline, counted from 1. */
export interface Line {
  number: number;
  bytes: Buffer;
}

const NEWLINE = 0x0a;

/**
 * The complete lines of a file, a chunk at a time and in batches, so that a large file costs one await a chunk and not
 * one a line. A last line without its newline was torn by a crash and is left out: it was never promised to anyone. In a
 * file that somebody else wrote (`unended: 'keep'`) it is a line like any other.
 * The bytes of a batch are valid until the next one is asked for.
 */
export async function* readLines(
  file: string,
  chunkSize = 1 << 20,
  unended: 'drop' | 'keep' = 'drop',
  /** Where to begin: the byte after a line, and the number of that line. */
  after = { offset: 0, line: 0 },
): AsyncGenerator<Line[]> {
  const handle = await open(file, 'r');
  try {
    let carry: Buffer = Buffer.alloc(0);
    let number = after.line;
    let position = after.offset;
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkSize);
      const { bytesRead } = await handle.read(chunk, 0, chunkSize, after.offset === 0 ? null : position);
      position += bytesRead;
      if (bytesRead === 0) {
        if (unended === 'keep' && carry.length > 0) yield [{ number: number + 1, bytes: carry }];
        return;
      }
      const fresh = chunk.subarray(0, bytesRead);
      if (fresh.indexOf(NEWLINE) < 0) {
        carry = Buffer.concat([carry, fresh]);
        continue;
      }
      const data = carry.length === 0 ? fresh : Buffer.concat([carry, fresh]);
      const batch: Line[] = [];
      let start = 0;
      for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
        number += 1;
        batch.push({ number, bytes: data.subarray(start, end) });
        start = end + 1;
      }
      carry = Buffer.from(data.subarray(start));
      yield batch;
    }
  } finally {
    await handle.close();
  }
}
