import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, hashOf, sha256 } from './hash.ts';

/** The same value with the keys of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, reversed(inner)] as const);
  return Object.fromEntries(entries.reverse());
}

describe('canonicalJson', () => {
  it('orders keys at every depth, and leaves lists as they are', () => {
    expect(canonicalJson({ b: [3, { z: 1, y: 2 }, 1], a: { d: null, c: 'x' } })).toBe(
      '{"a":{"c":"x","d":null},"b":[3,{"y":2,"z":1},1]}',
    );
    expect(canonicalJson({ a: 1, Z: 2, é: 3, _: 4 })).toBe('{"Z":2,"_":4,"a":1,"é":3}');
  });

  it('leaves out what is undefined', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  });

  it('does not depend on the order in which keys were set, and is the value all the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('hashOf', () => {
  it('is the SHA-256 of FIPS 180-2', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256(new Uint8Array())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(hashOf({ b: 1, a: 'é' })).toBe(sha256('{"a":"é","b":1}'));
  });

  it('tells values apart that differ in type or place alone', () => {
    const values = [1, '1', [1], ['1'], { a: 1 }, { a: '1' }, [[1]], null, false, '', [], {}, [1, 2], [2, 1], [12]];
    expect(new Set(values.map(hashOf)).size).toBe(values.length);
  });
});
