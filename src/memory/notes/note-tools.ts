import { z } from 'zod';
import type { MemoryTool, ToolAnswer } from '../../contracts/memory.ts';
import type { Json } from '../../schema/json.ts';
import type { StoredItem } from '../../schema/record.ts';
import { NOTES_ROOT, NoteProblem } from './note-path.ts';
import type { NotesFolder } from './notes-folder.ts';

export interface NoteToolsOptions {
  folder: NotesFolder;
  /** What the memory holds in the given lines of a note, counted from 1. */
  shown(path: string, first: number, last: number): Promise<StoredItem[]>;
  /** What is given away by a list of these paths; nothing where names of notes are not the memory's. */
  listed?(text: string): StoredItem[];
}

const path = z.string();
const lineNumber = z.int();

const inputs = {
  view: z.strictObject({ path, view_range: z.tuple([lineNumber, lineNumber]).nullish() }),
  create: z.strictObject({ path, file_text: z.string() }),
  str_replace: z.strictObject({ path, old_str: z.string().min(1), new_str: z.string().default('') }),
  insert: z.strictObject({ path, insert_line: lineNumber.nonnegative(), insert_text: z.string() }),
  delete: z.strictObject({ path }),
  rename: z.strictObject({ old_path: path, new_path: path }),
};
type Inputs = { [K in keyof typeof inputs]: z.infer<(typeof inputs)[K]> };
type ToolName = keyof typeof inputs;

const text = (description: string) => ({ type: 'string', description });
const count = (description: string) => ({ type: 'integer', description });
const notePath = text(`A path below ${NOTES_ROOT}, such as ${NOTES_ROOT}/notes.md.`);

interface Words {
  description: string;
  properties: { [key: string]: Json };
  required: string[];
}

/** As neutral as they can be: they are part of what is measured. */
const words: { [K in ToolName]: Words } = {
  view: {
    description: `Shows a note with line numbers, or the list of notes in a folder. All notes are below ${NOTES_ROOT}.`,
    properties: {
      path: text(`A note, or a folder such as ${NOTES_ROOT}.`),
      view_range: {
        type: 'array',
        items: { type: 'integer' },
        minItems: 2,
        maxItems: 2,
        description: 'First and last line to show, from 1; -1 for the end. Only for a note.',
      },
    },
    required: ['path'],
  },
  create: {
    description: 'Writes a new note.',
    properties: { path: notePath, file_text: text('All of the text.') },
    required: ['path', 'file_text'],
  },
  str_replace: {
    description: 'Replaces a text that occurs exactly once in a note.',
    properties: { path: notePath, old_str: text('The text as it stands.'), new_str: text('The new text.') },
    required: ['path', 'old_str', 'new_str'],
  },
  insert: {
    description: 'Inserts text into a note after a line.',
    properties: {
      path: notePath,
      insert_line: count('The line after which to insert; 0 for the beginning.'),
      insert_text: text('The text to insert.'),
    },
    required: ['path', 'insert_line', 'insert_text'],
  },
  delete: {
    description: 'Deletes a note, or a folder with all notes in it.',
    properties: { path: notePath },
    required: ['path'],
  },
  rename: {
    description: 'Renames or moves a note or a folder.',
    properties: { old_path: notePath, new_path: notePath },
    required: ['old_path', 'new_path'],
  },
};

const MOST_SHOWN = 50_000;

/** The lines of a note, its last line break aside. */
function linesOf(content: string): string[] {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function rangeOf(given: Inputs['view']['view_range'], lines: number): [number, number] {
  if (!given) return [1, lines];
  const [first, last] = [given[0], given[1] === -1 ? lines : given[1]];
  if (first >= 1 && first <= last && last <= lines) return [first, last];
  throw new NoteProblem(`view_range must be within 1 and ${lines}, the first line before the last`);
}

async function viewNote(
  { folder, shown }: NoteToolsOptions,
  { path: asked, view_range: range }: Inputs['view'],
): Promise<ToolAnswer> {
  const { path: found, content } = await folder.read(asked);
  const lines = linesOf(content);
  if (lines.length === 0) return { content: `${found} is empty.` };
  const [first, last] = rangeOf(range, lines.length);
  let room = MOST_SHOWN;
  const numbered: string[] = [];
  for (const [i, line] of lines.slice(first - 1, last).entries()) {
    if (room <= 0) break;
    numbered.push(`${String(first + i).padStart(6)}\t${line.slice(0, room)}`);
    room -= line.length + 1;
  }
  const end = first + numbered.length - 1;
  const more = room < 0 || end < last ? `\n(cut at ${MOST_SHOWN} characters; use view_range for the rest)` : '';
  const query = range ? `${found} lines ${first} to ${end}` : found;
  return {
    content: `${found} with line numbers:\n${numbered.join('\n')}${more}`,
    recall: { query, items: await shown(found, first, end) },
  };
}

async function viewFolder({ folder, listed }: NoteToolsOptions, asked: string): Promise<ToolAnswer> {
  const inside = asked.replace(/\/?$/, '/');
  const notes = (await folder.all()).filter(({ path: one }) => one.startsWith(inside));
  if (notes.length === 0) return { content: `There are no notes in ${asked}.` };
  const list = notes.map(({ path: one, content }) => `${one} (${linesOf(content).length} lines)`).join('\n');
  const items = listed?.(list) ?? [];
  return {
    content: `Notes in ${asked}:\n${list}`,
    ...(items.length === 0 ? {} : { recall: { query: asked, items } }),
  };
}

async function view(options: NoteToolsOptions, input: Inputs['view']): Promise<ToolAnswer> {
  const kind = await options.folder.kindOf(input.path);
  return kind === 'folder' ? viewFolder(options, input.path) : viewNote(options, input);
}

async function replaceOnce(folder: NotesFolder, { path: asked, old_str, new_str }: Inputs['str_replace']) {
  const { content } = await folder.read(asked);
  const parts = content.split(old_str);
  if (parts.length === 1) throw new NoteProblem('old_str does not occur in the note');
  if (parts.length > 2)
    throw new NoteProblem(`old_str occurs ${parts.length - 1} times: give more of the text around it`);
  await folder.replace(asked, parts.join(new_str));
}

async function insertAfter(folder: NotesFolder, { path: asked, insert_line: line, insert_text }: Inputs['insert']) {
  const lines = linesOf((await folder.read(asked)).content);
  if (line > lines.length) throw new NoteProblem(`insert_line must be within 0 and ${lines.length}`);
  const next = [...lines.slice(0, line), ...linesOf(insert_text), ...lines.slice(line)];
  await folder.replace(asked, next.map((one) => `${one}\n`).join(''));
}

/** The tools over a folder of notes: view, create, str_replace, insert, delete, rename. Only `view` shows anything. */
export function noteTools(options: NoteToolsOptions): MemoryTool[] {
  const { folder } = options;
  const done = async (work: Promise<void>, content: string): Promise<ToolAnswer> => {
    await work;
    return { content };
  };
  const runs: { [K in ToolName]: (input: Inputs[K]) => Promise<ToolAnswer> } = {
    view: (input) => view(options, input),
    create: ({ path: asked, file_text }) => done(folder.create(asked, file_text), `${asked} is written.`),
    str_replace: (input) => done(replaceOnce(folder, input), `${input.path} is changed.`),
    insert: (input) => done(insertAfter(folder, input), `${input.path} is changed.`),
    delete: ({ path: asked }) => done(folder.remove(asked), `${asked} is deleted.`),
    rename: ({ old_path, new_path }) => done(folder.rename(old_path, new_path), `${old_path} is now ${new_path}.`),
  };
  /** Ends when the last call so far has ended: two calls at once must not overwrite each other's change. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<ToolAnswer>): Promise<ToolAnswer> => {
    const answer = turn.then(work);
    turn = answer.catch(() => {});
    return answer;
  };
  return (Object.keys(inputs) as ToolName[]).map((name) => ({
    spec: specOf(name),
    run: (input) => inTurn(() => use(name, input, runs)),
  }));
}

function specOf(name: ToolName): MemoryTool['spec'] {
  const { description, properties, required } = words[name];
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false } };
}

/** A call that makes no sense is answered in words. */
async function use<K extends ToolName>(
  name: K,
  given: Json,
  runs: { [N in ToolName]: (input: Inputs[N]) => Promise<ToolAnswer> },
): Promise<ToolAnswer> {
  const { success, data, error } = inputs[name].safeParse(given);
  if (!success) {
    const [issue] = error.issues;
    return { content: `Error: ${issue?.path.join('.') || 'the input'}: ${issue?.message}.` };
  }
  try {
    return await runs[name](data as Inputs[K]);
  } catch (problem) {
    if (problem instanceof NoteProblem) return { content: `Error: ${problem.message}.` };
    throw problem;
  }
}
