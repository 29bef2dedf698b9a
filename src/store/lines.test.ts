import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { readLines } from './lines.ts';

/** What `readLines` promises, the simple way: all but what follows the last newline. */
function naiveLines(content: Uint8Array): string[] {
  return Buffer.from(content).toString('latin1').split('\n').slice(0, -1);
}

async function read(file: string, chunkSize?: number): Promise<{ number: number; text: string }[]> {
  const lines: { number: number; text: string }[] = [];
  for await (const batch of readLines(file, chunkSize)) {
    for (const { number, bytes } of batch) lines.push({ number, text: bytes.toString('latin1') });
  }
  return lines;
}

describe('readLines', () => {
  it.each([
    ['nothing', '', []],
    ['a torn line alone', 'torn', []],
    ['a torn last line', 'one\ntwo\nto', ['one', 'two']],
    ['empty lines', '\n\na\n\n', ['', '', 'a', '']],
    ['a carriage return, which is part of its line', 'a\r\nb\n', ['a\r', 'b']],
    ['lines longer than a chunk', `${'x'.repeat(50)}\n${'y'.repeat(49)}\nz`, ['x'.repeat(50), 'y'.repeat(49)]],
  ])('splits %s', async (_, content, expected) => {
    const file = join(await tempFolder(), 'lines');
    await writeFile(file, content);
    for (const chunkSize of [1, 2, 7, 50, 1 << 20]) {
      expect(await read(file, chunkSize)).toEqual(expected.map((text, i) => ({ number: i + 1, text })));
    }
  });

  it('splits any bytes like a naive split, whatever the size of a chunk', async () => {
    const file = join(await tempFolder(), 'lines');
    const byte = fc.oneof({ weight: 1, arbitrary: fc.constant(0x0a) }, { weight: 3, arbitrary: fc.nat(255) });
    const content = fc.array(byte, { maxLength: 80 }).map((bytes) => Uint8Array.from(bytes));
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 1, max: 30 }), async (bytes, chunkSize) => {
        await writeFile(file, bytes);
        const expected = naiveLines(bytes).map((text, i) => ({ number: i + 1, text }));
        expect(await read(file, chunkSize)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('lets go of the file when a reader stops early', async () => {
    const file = join(await tempFolder(), 'lines');
    await writeFile(file, 'a\nb\nc\n');
    const lines = readLines(file, 2);
    expect((await lines.next()).done).toBe(false);
    await lines.return(undefined);
    expect(await lines.next()).toEqual({ done: true, value: undefined });
  });

  it('says which file is not there', async () => {
    const file = join(await tempFolder(), 'missing');
    await expect(read(file)).rejects.toMatchObject({ code: 'ENOENT', path: file });
  });
});
