import type { Fact, StoredItem } from '../../schema/record.ts';
import type { Note } from './notes-folder.ts';

/** One thing that a note says, and the lines it stands on, from 1. */
export interface Entry {
  text: string;
  first: number;
  last: number;
}

/** A fact as an entry of a note: `- ` in front of its first line and two spaces in front of the others. */
export const entryOf = (text: string): string => `- ${text.split('\n').join('\n  ')}\n`;

/**
 * The entries of a note, in order: a list item with the indented lines below it, or a line by itself. What `entryOf`
 * wrote comes back to the letter.
 */
export function entriesOf(content: string): Entry[] {
  const entries: Entry[] = [];
  let item: Entry | undefined;
  const lines = content.split('\n');
  // A line break at the end begins no line.
  if (lines.at(-1) === '') lines.pop();
  for (const [i, line] of lines.entries()) {
    const number = i + 1;
    if (item && line.startsWith('  ')) {
      item.text += `\n${line.slice(2)}`;
      item.last = number;
    } else if (line.startsWith('- ') || line.startsWith('* ')) {
      item = { text: line.slice(2), first: number, last: number };
      entries.push(item);
    } else {
      item = undefined;
      if (line.trim() !== '') entries.push({ text: line.trim(), first: number, last: number });
    }
  }
  return entries;
}

/** An entry with the note it stands in and the facts that it holds word for word. */
export interface HeldEntry extends Entry, StoredItem {
  path: string;
}

/**
 * The entries of all notes with their facts.
 *
 * @param exact Notes hold facts as they were told: an entry is one fact, the same text twice is two facts in the order
 *   of telling, and what is no fact is left out. Otherwise an entry names every fact whose text stands in it.
 */
export function heldEntries(notes: readonly Note[], facts: readonly Fact[], exact: boolean): HeldEntry[] {
  const all = notes.flatMap(({ path, content }) => entriesOf(content).map((entry) => ({ ...entry, path })));
  if (!exact) {
    const telling = facts.filter(({ text }) => text.trim() !== '');
    return all
      .filter(({ text }) => text.trim() !== '')
      .map((entry) => ({
        ...entry,
        fact_ids: telling.filter(({ text }) => entry.text.includes(text)).map(({ id }) => id),
      }));
  }
  const open = new Map<string, string[]>();
  for (const { text, id } of facts) open.set(text, [...(open.get(text) ?? []), id]);
  return all.flatMap((entry) => {
    const id = open.get(entry.text)?.shift();
    return id === undefined ? [] : [{ ...entry, fact_ids: [id] }];
  });
}

export const itemOf = ({ text, fact_ids }: StoredItem): StoredItem => ({ text, fact_ids });
