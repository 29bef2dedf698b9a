import { describe, expect, it } from 'vitest';
import { shardName, shardOf } from './shard.ts';

const samples = Array.from({ length: 400 }, (_, i) => ({ id: `ci-${i}` }));

describe('shardOf', () => {
  it('puts every sample into one part, in order, and each part has its share', () => {
    const parts = Array.from({ length: 8 }, (_, i) => shardOf(samples, { index: i + 1, count: 8 }));
    expect(new Set(parts.flat()).size).toBe(400);
    expect(parts.flat()).toHaveLength(400);
    // 50 expected with a standard deviation of 6.6.
    for (const part of parts) expect(Math.abs(part.length - 50)).toBeLessThan(27);
  });

  it('leaves a sample in its part whatever a limit takes away', () => {
    const part = { index: 3, count: 8 };
    const few = shardOf(samples.slice(0, 100), part);
    expect(shardOf(samples, part).slice(0, few.length)).toEqual(few);
    expect(shardOf(samples, { index: 1, count: 1 })).toEqual(samples);
    expect(shardName(part)).toBe('3/8');
  });
});
