import { HeamsError } from '../lib/errors.ts';
import type { Fact } from '../schema/record.ts';

/** Half of a pair of UTF-16 units: no character, and nothing that UTF-8 can hold. */
const loneSurrogate = /\p{Surrogate}/u;

export interface TextLimits {
  /** The system, as it is called in messages. */
  system: string;
  /** It keeps no NUL character (PostgreSQL). */
  refusesNul?: boolean;
}

/**
 * Refuses texts that a system would change in silence or answer with an error of its own: a memory that keeps another
 * text than it was given cannot be measured.
 *
 * @throws HeamsError `memory_text_refused`
 */
export function refuseUnstorable(facts: readonly Fact[], { system, refusesNul = false }: TextLimits): void {
  for (const fact of facts) {
    const nul = refusesNul && fact.text.includes('\0');
    if (!nul && !loneSurrogate.test(fact.text)) continue;
    throw new HeamsError(`${system} cannot keep the text of a fact as it is`, {
      code: 'memory_text_refused',
      expected: nul ? 'text without the character U+0000' : 'whole characters',
      found: `${nul ? 'a U+0000' : 'half of a surrogate pair'} in "${fact.key.replaceAll('\0', '')}"`,
      hint: 'mend the scenario, or use a memory in this process such as vector or bm25',
    });
  }
}
