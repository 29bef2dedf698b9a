import { createHash } from 'node:crypto';

/** A source of numbers in [0, 1). */
export type Random = () => number;

/**
 * A generator that gives the same numbers for the same parts on every machine: sfc32 (Doty-Humphrey, PractRand),
 * seeded with the SHA-256 of the parts.
 */
export function seededRandom(...parts: readonly (string | number)[]): Random {
  const digest = createHash('sha256').update(parts.join('\u0000')).digest();
  let a = digest.readUInt32LE(0);
  let b = digest.readUInt32LE(4);
  let c = digest.readUInt32LE(8);
  let counter = 1;
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 4294967296;
  };
}

/** A shuffled copy (Fisher and Yates). */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
