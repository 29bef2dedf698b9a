import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader } from './frame-reader.ts';

const token = 'a1b2c3d4e5f6';

/** What the pieces of a stream are read as. */
function read(pieces: readonly (string | Uint8Array)[], limit = 1000) {
  const frames: string[] = [];
  let tooLarge = 0;
  const reader = new FrameReader({
    token,
    limit,
    onFrame: (bytes) => frames.push(Buffer.from(bytes).toString('utf8')),
    onTooLarge: () => {
      tooLarge += 1;
    },
  });
  for (const piece of pieces) reader.push(Buffer.from(piece));
  return { frames, tooLarge, chatter: reader.chatter.text, unfinished: reader.unfinished };
}

describe('frames', () => {
  it.each([
    ['a frame alone', `${token} {"a":1}\n`, ['{"a":1}'], ''],
    ['two frames', `${token} 1\n${token} 2\n`, ['1', '2'], ''],
    ['chatter around them', `hello\n${token} 1\nworld\n${token} 2\nbye\n`, ['1', '2'], 'hello\nworld\n'],
    ['chatter on the same line', `50%${token} 1\n`, ['1'], '50%'],
    [
      'the token without a space',
      `${token}\n${token}=x ${token},${token} 1\n`,
      ['1'],
      `${token}\n${token}=x ${token},`,
    ],
    ['a token inside a frame', `${token} {${token} }\n`, [`{${token} }`], ''],
    ['CR LF', `${token} 1\r\n`, ['1\r'], ''],
    ['an empty frame', `${token} \n`, [''], ''],
    ['text beyond ASCII', `é${token} "東京"\n`, ['"東京"'], 'é'],
  ])('are found: %s', (_name, text, frames, chatter) => {
    const whole = read([text]);
    expect(whole.frames).toEqual(frames);
    expect(whole.chatter.startsWith(chatter)).toBe(true);
    // Byte by byte is no different.
    expect(read([...Buffer.from(text)].map((byte) => Uint8Array.of(byte))).frames).toEqual(frames);
  });

  it('are the same however the stream is cut', () => {
    const part = fc.oneof(
      fc.constant(`${token} {"id":"1"}\n`),
      fc.constant(token),
      fc.constant(`${token.slice(0, 7)}`),
      fc.string({ maxLength: 8 }).filter((text) => !text.includes(token)),
      fc.constant('\n'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 8 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''));
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
        expect(read(pieces).frames).toEqual(read([bytes]).frames);
      }),
    );
  });

  it('may be as large as the limit and no larger, also before their end', () => {
    expect(read([`${token} ${'x'.repeat(10)}\n`], 10)).toMatchObject({ frames: ['x'.repeat(10)], tooLarge: 0 });
    expect(read([`${token} ${'x'.repeat(11)}\n${token} 1\n`], 10)).toMatchObject({ frames: [], tooLarge: 1 });
    expect(read([`${token} `, 'x'.repeat(11), 'x\n', `${token} 1\n`], 10)).toMatchObject({ frames: [], tooLarge: 1 });
  });

  it('of which one has begun and not ended is known', () => {
    expect(read([`${token} {"a"`]).unfinished).toBe(true);
    expect(read([`${token} {"a"\n`]).unfinished).toBe(false);
  });

  it('leave of chatter without an end its end alone', () => {
    const { chatter, frames } = read(Array(64).fill('y'.repeat(64 * 1024)));
    expect(frames).toEqual([]);
    expect(chatter).toBe('y'.repeat(2000));
  });
});
