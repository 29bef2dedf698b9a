import { HeamsError } from '../../lib/errors.ts';
import { sha256 } from '../../lib/hash.ts';
import type { Fact } from '../../schema/record.ts';
import type { CiSample } from './sample.ts';

/** Facts of another sample, as another conversation of the same user. */
export type Conversation = readonly Fact[];

interface PreparedFact {
  fact: Fact;
  /** The key in words, so that `phone_number` and `Phone number` are one. */
  key: string;
  /** The whole text in lower case, as it stands and with compatibility forms folded; and in words. */
  lowered: string;
  words: string;
  /** The value's lines in words. */
  lines: readonly string[];
}

interface Donor {
  place: string;
  id: string;
  cluster: string;
  facts: readonly PreparedFact[];
}

/**
 * Words in lower case with a space before, between and after them: one such text stands in another only where it begins
 * and ends with whole words. Stricter than the string judges, as marks between words do not count.
 */
function wordsOf(text: string): string {
  const words = folded(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.length === 0 ? '' : ` ${words.join(' ')} `;
}

const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '');

const keyOf = (key: string): string => wordsOf(key) || key.toLowerCase();

/** The lines of a fact's value. A leaf with line breaks counts by its lines, which finds more collisions, never fewer. */
const linesOf = ({ key, text }: Fact): string[] => text.slice(key.length + 2).split('\n');

const inWords = (texts: readonly string[]): string[] => texts.map(wordsOf).filter(Boolean);

function prepared(fact: Fact): PreparedFact {
  const { key, text } = fact;
  return {
    fact,
    key: keyOf(key),
    lowered: `${text.toLowerCase()}\n${folded(text)}`,
    words: wordsOf(text),
    lines: inWords(linesOf(fact)),
  };
}

/** What no distractor of a sample may hold, or be a part of. */
function ownOf({ facts, data }: CiSample) {
  const items = [...data.secrets, ...data.fields];
  const parts = items.flatMap((item) => item.parts);
  const values = inWords([...parts, ...facts.flatMap(linesOf)]);
  return {
    ids: new Set(facts.map(({ id }) => id)),
    keys: new Set([...items, ...facts].map(({ key }) => keyOf(key))),
    // The raw string judge finds a value inside longer words as well.
    parts: parts.map((part) => part.toLowerCase()).filter((part) => part.trim() !== ''),
    values,
    /** Every value in one text; what separates them is no word. */
    all: values.join('\n'),
  };
}

function collides({ lowered, words, lines }: PreparedFact, own: ReturnType<typeof ownOf>): boolean {
  return (
    own.parts.some((part) => lowered.includes(part)) ||
    own.values.some((value) => words.includes(value)) ||
    lines.some((line) => own.all.includes(line))
  );
}

export interface HaystackOptions {
  /** Distractors for each sample. */
  n: number;
  seed: number;
}

/**
 * Draws distractors for the samples of a dataset: facts of other samples, none of them near anything that the sample
 * holds itself. No distractor comes from a sample of the same seed, has a key of the sample (of a fact or an annotated
 * value) or of another distractor, or has a value that equals a value of the sample, contains one, or is contained in one:
 * at whole words and without regard to case; an annotated value may not stand in it even inside a longer word.
 *
 * Donors stand on a ring, each at a place drawn from the seed and its id. A sample begins at its own place and takes
 * what it may of each donor until it has enough: so another sample more or less in the dataset changes the pools of its
 * neighbours alone, and the order of the file changes nothing.
 */
export class Haystack {
  private readonly ring: readonly Donor[];
  /** Where each sample stands on the ring. */
  private readonly starts: ReadonlyMap<string, number>;
  private readonly options: HaystackOptions;

  /** `dataset` holds every sample that will be asked for. */
  constructor(dataset: readonly CiSample[], options: HaystackOptions) {
    this.options = options;
    this.ring = dataset
      .map(({ id, cluster, facts }) => ({ place: this.placeOf(id), id, cluster, facts: facts.map(prepared) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    this.starts = new Map(this.ring.map(({ id }, i) => [id, i]));
  }

  private placeOf(id: string): string {
    return sha256(['haystack', this.options.seed, id].join('\u0000'));
  }

  /**
   * The distractors of a sample, exactly `n` in all, by the conversation that they come from.
   *
   * @throws HeamsError `haystack_too_small` where the dataset does not have that many.
   */
  conversationsFor(sample: CiSample): Conversation[] {
    const { n } = this.options;
    const own = ownOf(sample);
    const taken: Conversation[] = [];
    let count = 0;
    for (const donor of this.from(sample.id)) {
      if (count === n) break;
      if (donor.cluster === sample.cluster || donor.id === sample.id) continue;
      const facts: Fact[] = [];
      for (const candidate of donor.facts) {
        const { fact, key } = candidate;
        // No name that says what it is: a memory may show ids to a model.
        const id = `c${taken.length + 1}.${fact.key}`;
        if (count === n || own.keys.has(key) || own.ids.has(id) || collides(candidate, own)) continue;
        own.keys.add(key);
        facts.push({ id, key: fact.key, text: fact.text, distractor: true });
        count += 1;
      }
      if (facts.length > 0) taken.push(facts);
    }
    if (count < n) throw tooSmall(sample, { wanted: n, found: count });
    return taken;
  }

  private *from(id: string): Generator<Donor> {
    const { ring } = this;
    const start = this.starts.get(id) ?? 0;
    for (let i = 0; i < ring.length; i++) yield ring[(start + i) % ring.length] as Donor;
  }
}

function tooSmall({ id }: CiSample, { wanted, found }: { wanted: number; found: number }): HeamsError {
  return new HeamsError(`the dataset has too few facts of other samples for sample "${id}"`, {
    code: 'haystack_too_small',
    expected: `${wanted} facts that share no key and no value with the sample (haystack: ${wanted})`,
    found: `${found}`,
    hint: `lower haystack to ${found} or less, or use a larger dataset`,
  });
}
