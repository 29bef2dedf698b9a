import { z } from 'zod';
import type { Fact, StoredItem } from '../../schema/record.ts';

/** How mem0 is told facts, whether it runs here or is hosted. */
export const addBySchema = z.enum(['fact', 'session']);
export type AddBy = z.infer<typeof addBySchema>;

/** What goes along with a memory, to know on the way back whose it is. mem0 keeps it as it is given. */
export interface Origin {
  heams_scope: string;
  fact_ids: string[];
  /** When the facts were told, in the order of their ids; absent where they have no times. */
  told_at?: string[];
}

export interface Add {
  facts: readonly Fact[];
  origin: Origin;
}

/**
 * The facts as they are added: one at a time, each memory then names its fact; or all of a session in one conversation,
 * and then nobody can tell which of them a memory came from.
 */
export function addsOf(facts: readonly Fact[], by: AddBy, scope: string): Add[] {
  const groups: Fact[][] = [];
  for (const fact of facts) {
    const last = groups.at(-1);
    if (by === 'session' && last && last[0]?.session === fact.session) last.push(fact);
    else groups.push([fact]);
  }
  return groups.map((group) => {
    const told = group.flatMap(({ at }) => (at === undefined ? [] : [at]));
    return {
      facts: group,
      origin: {
        heams_scope: scope,
        fact_ids: by === 'fact' ? group.map(({ id }) => id) : [],
        ...(told.length === 0 ? {} : { told_at: told }),
      },
    };
  });
}

/** A memory as mem0 gives it, as far as it is read here. */
export interface Mem0Item {
  id: string;
  memory?: string;
  score?: number;
  metadata?: unknown;
}

const originSchema = z.looseObject({ heams_scope: z.string(), fact_ids: z.array(z.string()) });

/**
 * A memory and the facts it came from. One that was added elsewhere names a fact that nobody knows here, so that it is
 * refused as another scope's.
 */
export function storedOf(item: Mem0Item, scope: string): StoredItem {
  const origin = originSchema.safeParse(item.metadata);
  const own = origin.success && origin.data.heams_scope === scope;
  return { text: item.memory ?? '', fact_ids: own ? origin.data.fact_ids : [`${item.id} of another scope`] };
}

/** In the order in which the facts were written; what names no fact keeps its place at the end. */
export function inWrittenOrder<T extends StoredItem>(items: readonly T[], written: readonly Fact[]): T[] {
  const places = new Map(written.map(({ id }, place) => [id, place]));
  const placeOf = ({ fact_ids: [first] }: T) => places.get(first ?? '') ?? written.length;
  return [...items].sort((a, b) => placeOf(a) - placeOf(b));
}
