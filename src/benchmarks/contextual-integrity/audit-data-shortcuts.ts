import type { Shortcut } from '../../schema/ci-data-audit.ts';
import { shareRate } from '../../stats/rate.ts';
import { wordsOf } from './flag-words.ts';

/** A fact of the information pool that is annotated on one side alone, as the file has it. */
export interface LabelledFact {
  key: string;
  /** Place among the row's facts, from 0, and how many there are. */
  place: number;
  of: number;
  allowed: boolean;
}

const definitions = {
  majority: 'Always the side that has more facts: what knowing nothing gives.',
  first_half:
    'Allowed when the fact stands in the first half of its row, as published; the middle of an odd number counts with the second half. Nothing is fitted.',
  position_threshold:
    'Allowed when the fact stands before a share of its row, as published; the share, in per cent, is the one that is right most often for all other seeds.',
  key_name:
    'Naive Bayes over the words of the key (multinomial, add-one smoothing, each word once), learned from all other seeds. It never sees a value, a task or a place.',
} as const;

/** Counts of one class: facts, words, and how often each word occurs. */
class ClassCounts {
  facts = 0;
  total = 0;
  readonly words = new Map<string, number>();

  add(words: readonly string[], times: 1 | -1): void {
    this.facts += times;
    this.total += times * words.length;
    for (const word of words) this.words.set(word, (this.words.get(word) ?? 0) + times);
  }

  of(word: string): number {
    return this.words.get(word) ?? 0;
  }
}

interface ReadFact extends LabelledFact {
  words: readonly string[];
}

/**
 * Multinomial naive Bayes with Laplace's add-one smoothing (Manning, Raghavan and Schütze, Introduction to Information
 * Retrieval, 2008, section 13.2): a class's log prior plus, for each word of the key that training has seen, the log of
 * (count of the word in the class + 1) / (words of the class + size of the vocabulary).
 */
class KeyNameModel {
  private readonly classes = { allowed: new ClassCounts(), disallowed: new ClassCounts() };
  private vocabulary = 0;

  add(fact: ReadFact, times: 1 | -1): void {
    const before = fact.words.map((word) => this.seen(word));
    this.classes[fact.allowed ? 'allowed' : 'disallowed'].add(fact.words, times);
    for (const [i, word] of fact.words.entries()) this.vocabulary += Number(this.seen(word)) - Number(before[i]);
  }

  private seen(word: string): boolean {
    return this.classes.allowed.of(word) + this.classes.disallowed.of(word) > 0;
  }

  saysAllowed({ words }: ReadFact): boolean {
    const { allowed, disallowed } = this.classes;
    const known = words.filter((word) => this.seen(word));
    const score = (own: ClassCounts) =>
      known.reduce(
        (sum, word) => sum + Math.log((own.of(word) + 1) / (own.total + this.vocabulary)),
        Math.log(own.facts / (allowed.facts + disallowed.facts)),
      );
    const lead = score(allowed) - score(disallowed);
    // Sums of logs in another order differ in the last bits, so a tie is what is nearly one.
    const tie = Number.isNaN(lead) || Math.abs(lead) < 1e-9;
    return tie ? allowed.facts >= disallowed.facts : lead > 0;
  }
}

const STEPS = 100;

/** Whether the fact stands before `step` per cent of its row, taken at its middle: (place + 1/2) / of < step / 100. */
const isBefore = ({ place, of }: LabelledFact, step: number): boolean => (2 * place + 1) * STEPS < 2 * step * of;

/** Facts that each threshold gets right. */
function rightByStep(facts: readonly LabelledFact[]): number[] {
  return Array.from(
    { length: STEPS + 1 },
    (_, step) => facts.filter((fact) => isBefore(fact, step) === fact.allowed).length,
  );
}

/** The step that is right most often in `all` but for `own`; the lowest of several. */
function bestStep(all: readonly number[], own: readonly number[]): number {
  let best = 0;
  let most = -1;
  for (let step = 0; step <= STEPS; step++) {
    const right = (all[step] as number) - (own[step] as number);
    if (right > most) [best, most] = [step, right];
  }
  return best;
}

/** What the fitted rules get right, each seed's facts answered from all other seeds. */
function leaveOneSeedOut(seeds: readonly (readonly ReadFact[])[]): { threshold: number; keyName: number } {
  const model = new KeyNameModel();
  for (const fact of seeds.flat()) model.add(fact, 1);
  const all = new Array<number>(STEPS + 1).fill(0);
  for (const facts of seeds) {
    for (const [step, right] of rightByStep(facts).entries()) all[step] = (all[step] as number) + right;
  }
  let threshold = 0;
  let keyName = 0;
  for (const facts of seeds) {
    const own = rightByStep(facts);
    threshold += own[bestStep(all, own)] as number;
    for (const fact of facts) model.add(fact, -1);
    keyName += facts.filter((fact) => model.saysAllowed(fact) === fact.allowed).length;
    for (const fact of facts) model.add(fact, 1);
  }
  return { threshold, keyName };
}

/**
 * How often "may this fact be shared?" is answered right without reading what it says. What is above the majority's
 * share is a shortcut: an agent, or a classifier, that takes it shows no understanding of privacy.
 *
 * `seeds`: the labelled facts, those of one seed together, so that nothing is learned from rows of the same seed. Facts
 * of a row are not independent of each other, so Wilson's interval is somewhat too narrow.
 */
export function shortcutsOf(seeds: readonly (readonly LabelledFact[])[]): Shortcut[] {
  const read = seeds
    .map((facts) => facts.map((fact): ReadFact => ({ ...fact, words: [...new Set(wordsOf(fact.key))] })))
    .filter((facts) => facts.length > 0);
  const facts = read.flat();
  const allowed = facts.filter((fact) => fact.allowed).length;
  const shortcut = (id: Shortcut['id'], right: number, asked: number, reason: string): Shortcut => ({
    id,
    definition: definitions[id],
    accuracy: shareRate({ yes: right, no: asked - right, unjudged: 0, failed: 0 }, { reason }),
  });
  const none = 'no fact is annotated on one side';
  const fitted =
    read.length > 1 ? { ...leaveOneSeedOut(read), asked: facts.length } : { threshold: 0, keyName: 0, asked: 0 };
  const firstHalf = facts.filter((fact) => isBefore(fact, STEPS / 2) === fact.allowed).length;
  const alone = facts.length === 0 ? none : 'there is one seed alone, and no other to learn from';
  return [
    shortcut('majority', Math.max(allowed, facts.length - allowed), facts.length, none),
    shortcut('first_half', firstHalf, facts.length, none),
    shortcut('position_threshold', fitted.threshold, fitted.asked, alone),
    shortcut('key_name', fitted.keyName, fitted.asked, alone),
  ];
}
