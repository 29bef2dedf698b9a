import { describe, expect, it } from 'vitest';
import type { MemoryBackend, MemoryCapabilities } from '../contracts/memory.ts';
import { poolNotes } from './pool-notes.ts';

const capabilities: MemoryCapabilities = {
  stores: true,
  rewrites: false,
  provenance: true,
  honours_k: true,
  needs_network: false,
  needs_key: false,
};
const arm = (memoryName: string, topK: number, own: Partial<MemoryCapabilities> = {}) => ({
  memoryName,
  memory: { topK, capabilities: { ...capabilities, ...own } } as MemoryBackend,
});
const sample = (size: number) => ({
  facts: Array.from({ length: size }, (_, i) => ({ id: `${i}`, key: `${i}`, text: '' })),
});

describe('poolNotes', () => {
  const samples = [sample(4), sample(7), sample(12)];

  it('says once for each memory for how many samples its top_k is at or above the pool', () => {
    const notes = poolNotes([arm('words', 7), arm('words', 7), arm('few', 3), arm('many', 12)], samples);
    expect(notes).toHaveLength(2);
    expect(notes[0]).toContain('memory words: for 2 of 3 samples top_k 7 is at or above the pool');
    expect(notes[1]).toContain('memory many: for 3 of 3 samples top_k 12');
  });

  it.each([{ honours_k: false }, { stores: false }, { rewrites: true }, { external: true as const }])(
    'says nothing of a memory with %j',
    (own) => {
      expect(poolNotes([arm('m', 50, own)], samples)).toEqual([]);
    },
  );
});
