import { HeamsError } from '../../lib/errors.ts';
import { excerpt } from '../../lib/excerpt.ts';
import type { Json } from '../../schema/json.ts';
import type { ToolReply } from './connection.ts';
import type { Reading } from './options.ts';
import { PathMiss, parsePath, type ReplyPath, select, selectList } from './path.ts';
import { renderText } from './structure.ts';

/** One text that a reply holds, and the item that it is of. */
export interface ReadText {
  item: Json;
  text: string;
  factId?: string;
}

/** How a tool's reply is read, with its paths parsed. */
export interface Reader {
  /** What a reply holds, as JSON. */
  root(reply: ToolReply): Json;
  items(root: Json): Json[];
  texts(items: readonly Json[]): ReadText[];
}

/** `tool` is for errors: each says which tool gave what cannot be read. */
export function readerOf(tool: string, { reply: form, items, text, fact_id: factId }: Reading): Reader {
  const at = parsePath(items) as ReplyPath;
  const readText = partOf(text);
  const readId = factId === undefined ? undefined : partOf(factId);
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof PathMiss)) throw error;
      throw unreadable(tool, error.message);
    }
  };
  return {
    root: (reply) => (form === 'text' ? reply.texts : jsonOf(tool, reply)),
    items: (root) => guarded(() => selectList(root, at)),
    texts: (found) =>
      guarded(() =>
        found.flatMap((item) => {
          const id = readId?.(item)[0];
          return readText(item).map((one) => ({ item, text: one, ...(id === undefined ? {} : { factId: id }) }));
        }),
      ),
  };
}

/** What a reply says as JSON: its structured content, its one text parsed, or a list of its texts parsed. */
function jsonOf(tool: string, { structured, texts }: ToolReply): Json {
  if (structured !== undefined) return structured;
  const parsed = texts.map((text) => {
    try {
      return JSON.parse(text) as Json;
    } catch {
      throw unreadable(tool, `its text is not JSON: ${excerpt(text, (same) => same) || '(nothing)'}`);
    }
  });
  if (parsed.length === 0) throw unreadable(tool, 'it has neither structured content nor text');
  return parsed.length === 1 ? (parsed[0] as Json) : parsed;
}

/** The texts that a path or a template makes of an item. */
function partOf(source: string): (item: Json) => string[] {
  if (source.includes('{{')) return (item) => [renderText(source, { item })];
  const path = parsePath(source) as ReplyPath;
  return (item) =>
    select(item, path).map((found) => {
      if (typeof found === 'string') return found;
      throw new PathMiss(`"${path.text}" of an item is no text`);
    });
}

function unreadable(tool: string, problem: string): HeamsError {
  return new HeamsError(`the reply of the MCP tool ${tool} cannot be read: ${problem}`, {
    code: 'memory_bad_response',
    hint: 'look at items and text of the tool in the memory file, and at what the server answers',
  });
}
