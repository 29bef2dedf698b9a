import { leaves } from '../../lib/leaves.ts';
import type { Json } from '../../schema/json.ts';
import type { Fact } from '../../schema/record.ts';

/** A fact that was written to a scope, and what it is called there. */
export interface Written {
  fact: Fact;
  /** The fact's key; with a number where the scope has the key already. */
  name: string;
}

/** Which facts texts came from, for a server that keeps texts and not the ids of facts. */
export class Sources {
  readonly #written: Written[] = [];
  readonly #names = new Set<string>();
  /** Positions of the facts of one text, in the order of writing. */
  readonly #byText = new Map<string, number[]>();
  readonly #byId = new Map<string, number>();

  /** Takes facts up and gives each its name. */
  add(facts: readonly Fact[]): Written[] {
    const added = facts.map((fact) => ({ fact, name: this.#fresh(fact.key) }));
    for (const one of added) {
      const { id, text } = one.fact;
      const position = this.#written.push(one) - 1;
      this.#byText.set(text, [...(this.#byText.get(text) ?? []), position]);
      this.#byId.set(id, position);
    }
    return added;
  }

  /** For each text of one reply the fact that it is, the first for the first of equal ones; nothing for another's. */
  ofTexts(texts: readonly string[]): (Fact | undefined)[] {
    const seen = new Map<string, number>();
    return texts.map((text) => {
      const nth = seen.get(text) ?? 0;
      seen.set(text, nth + 1);
      const position = this.#byText.get(text)?.[nth];
      return position === undefined ? undefined : this.#written[position]?.fact;
    });
  }

  /** When a fact was written, counted from 0; after all others for what was not written here. */
  position(id: string | undefined): number {
    return (id === undefined ? undefined : this.#byId.get(id)) ?? Number.POSITIVE_INFINITY;
  }

  /** The facts whose text a reply shows, whether it shows it as it is or inside JSON. */
  shownIn(texts: readonly string[]): Fact[] {
    const parts = texts.flatMap((text) => [text, ...stringsOf(text)]);
    return this.#written
      .map(({ fact }) => fact)
      .filter(({ text }) => text !== '' && parts.some((part) => part.includes(text)));
  }

  #fresh(key: string): string {
    let name = key;
    for (let n = 2; this.#names.has(name); n++) name = `${key} (${n})`;
    this.#names.add(name);
    return name;
  }
}

/** The strings in a text that is JSON, without their escapes; none where it is not. */
function stringsOf(text: string): string[] {
  try {
    return leaves(JSON.parse(text) as Json);
  } catch {
    return [];
  }
}
