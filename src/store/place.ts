import { open } from 'node:fs/promises';

/** Where a line stands in its file, in bytes; lines count from 1. */
export interface Place {
  line: number;
  offset: number;
  length: number;
}

/** The bytes of one line of a file. */
export async function readPlace(file: string, { offset, length }: Place): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
