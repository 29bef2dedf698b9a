import type { Fact } from '../schema/record.ts';

/** What a prompt that tells facts to a model may use. */
export const toldVariables = ['facts', 'session', 'at'] as const;

/** Facts as a prompt sees them: `facts` with `number` (from 1), `key`, `text` and `at`; empty text where a pool has no times. */
export function toldFacts(facts: readonly Fact[]) {
  const { session = '', at = '' } = facts[0] ?? {};
  return {
    facts: facts.map(({ key, text, at: time = '' }, i) => ({ number: i + 1, key, text, at: time })),
    session,
    at,
  };
}

/** Facts that follow each other in one session, together. */
export function sessionsOf(facts: readonly Fact[]): Fact[][] {
  const groups: Fact[][] = [];
  for (const fact of facts) {
    const last = groups.at(-1);
    if (last && last[0]?.session === fact.session) last.push(fact);
    else groups.push([fact]);
  }
  return groups;
}
