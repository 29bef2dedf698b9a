import { type Random, shuffled } from '../../lib/random.ts';
import type { Fact } from '../../schema/record.ts';
import type { Conversation } from './haystack.ts';

/** The day before the first session may be; no session's date depends on when a run is made. */
const EPOCH_MS = Date.UTC(2025, 0, 5);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Days between one session and the next, at most; and the hours of the day in which they begin. */
const MOST_DAYS = 14;
const [FIRST_HOUR, LAST_HOUR] = [7, 21];

/**
 * Facts in the order in which they were told: each of the sample's own facts at a place of its own, and each
 * conversation of others in one piece, all shuffled.
 */
export function mingled(own: readonly Fact[], others: readonly Conversation[], random: Random): Conversation[] {
  return shuffled([...own.map((fact) => [fact]), ...others], random);
}

/**
 * Deals the pieces of a pool over `n` sessions, one after the other, and dates each fact: sessions `s1`, `s2`, ... are 1
 * to 14 days apart, and the facts of one follow each other by the minute, so that `at` rises along the list. A pool of
 * fewer pieces than `n` has as many sessions as pieces: a session without a fact is none.
 */
export function dated(pieces: readonly Conversation[], n: number, random: Random): Fact[] {
  const count = Math.min(n, pieces.length);
  const facts: Fact[] = [];
  let day = EPOCH_MS;
  let at = EPOCH_MS;
  for (let session = 0; session < count; session++) {
    day += DAY_MS * (1 + Math.floor(random() * MOST_DAYS));
    const begins = day + HOUR_MS * FIRST_HOUR + MINUTE_MS * Math.floor(random() * 60 * (LAST_HOUR - FIRST_HOUR));
    // A session of very many facts may last beyond the day on which the next one was to begin.
    at = Math.max(begins, at + HOUR_MS);
    for (const fact of pieces.filter((_, i) => i % count === session).flat()) {
      facts.push({ ...fact, at: new Date(at).toISOString(), session: `s${session + 1}` });
      at += MINUTE_MS;
    }
  }
  return facts;
}
