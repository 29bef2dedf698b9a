import { hashOf } from '../lib/hash.ts';
import { seededRandom } from '../lib/random.ts';
import type { Fact, StoredItem } from '../schema/record.ts';

/** When a canary was written: in the first opening of its scope, or in the second. */
export type IsolationRound = 'concurrent' | 'resumed';

/** A fact that one scope alone may hold. */
export interface Canary {
  /** The number of its scope. */
  scope: number;
  round: IsolationRound;
  fact: Fact;
  /** What is looked for: letters and digits that occur nowhere else. */
  token: string;
}

/** The words are the same in all scopes, so that a store which is shared gives one scope's for another's. */
const keys = ['Locker code', 'Booking reference'] as const;
/** No vowels, so that no word comes about. */
const letters = 'bcdfghjkmnpqrstvwxz';
const signs = `${letters}23456789`;
const TOKEN_LENGTH = 14;

function tokenOf(...seed: readonly (string | number)[]): string {
  const random = seededRandom('isolation canary', ...seed);
  const draw = (from: string): string => from.charAt(Math.floor(random() * from.length));
  return Array.from({ length: TOKEN_LENGTH }, (_, i) => draw(i === 0 ? letters : signs)).join('');
}

/** The canaries of every scope, in order of writing. */
export function canariesOf(scopes: number, round: IsolationRound, seed: string): Canary[][] {
  return Array.from({ length: scopes }, (_scope, scope) =>
    keys.map((key, i) => {
      const token = tokenOf(seed, round, scope, i);
      return { scope, round, token, fact: { id: `${round}-${scope}-${i}`, key, text: `${key}: ${token}` } };
    }),
  );
}

/**
 * Ids as jobs have them, of 32 hex digits; every second one is the first half of the one before it, since a store that
 * looks for ids by how they begin mixes such two.
 */
export function isolationScopeIds(scopes: number, seed: string): string[] {
  return Array.from({ length: scopes }, (_, n) => {
    const whole = hashOf(['isolation scope', seed, n - (n % 2)]).slice(0, 32);
    return n % 2 === 0 ? whole : whole.slice(0, 16);
  });
}

/** The canaries that items show: by token, however it is written, or by the id of the fact. */
export function canariesIn(items: readonly StoredItem[], canaries: readonly Canary[]): Canary[] {
  const ids = new Set(items.flatMap((item) => item.fact_ids));
  const texts = items.map(({ text }) => text.toLowerCase().replace(/[\s-]/g, ''));
  return canaries.filter(({ token, fact }) => ids.has(fact.id) || texts.some((text) => text.includes(token)));
}
