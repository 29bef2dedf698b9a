import type { CallContext } from '../../contracts/call.ts';
import type { MemoryTool } from '../../contracts/memory.ts';
import { HeamsError } from '../../lib/errors.ts';
import { excerpt } from '../../lib/excerpt.ts';
import type { Json } from '../../schema/json.ts';
import type { Fact, RecallItem, StoredItem } from '../../schema/record.ts';
import type { ServiceStore } from '../service-backend.ts';
import { agentTools } from './agent-tools.ts';
import { Connection, type ToolReply } from './connection.ts';
import type { ListMapping, SearchMapping, Settings, WriteMapping } from './options.ts';
import type { Place, Places } from './places.ts';
import { type Reader, type ReadText, readerOf } from './reading.ts';
import { Sources, type Written } from './sources.ts';
import { render, type Structure, type Variables } from './structure.ts';
import { queryWords } from './words.ts';

export interface StoreParts {
  settings: Settings;
  places: Places;
  scopeId: string;
  call: CallContext;
}

const never = new AbortController().signal;

/** A fact as templates see it. What it lacks is an empty text; that it is a distractor is not for a memory to know. */
const shown = ({ fact: { distractor: _, ...fact }, name }: Written): Variables => ({
  session: '',
  at: '',
  ...fact,
  name,
});

/** One scope on an MCP server, by the mapping of its tools. */
export class McpStore implements ServiceStore {
  readonly tools?: readonly MemoryTool[];
  readonly settled?: (written: readonly Fact[]) => Promise<boolean>;
  readonly #parts: StoreParts;
  readonly #sources = new Sources();
  readonly #list: { mapping: ListMapping; reader: Reader };
  readonly #search: { mapping: SearchMapping; reader: Reader } | undefined;
  #place: Place;
  #signal: AbortSignal;
  /** Nothing that the server said has gone wrong so far. */
  #sound = true;
  #gone = false;

  private constructor(parts: StoreParts, place: Place) {
    const { settings } = parts;
    const { search } = settings;
    const list = settings.list as ListMapping;
    this.#parts = parts;
    this.#place = place;
    this.#signal = parts.call.signal;
    this.#list = { mapping: list, reader: readerOf(list.tool, list) };
    this.#search = search && { mapping: search, reader: readerOf(search.tool, search) };
    if (settings.agentTools.length > 0) {
      this.tools = agentTools({
        settings,
        scopeId: parts.scopeId,
        specs: place.connection.tools,
        sources: this.#sources,
        call: (tool, args) => this.#ask(tool, args),
        read: (tool, reply) => this.#readAs(tool, reply),
      });
    }
    if (settings.wait_for_list) this.settled = (written) => this.#listed(written);
  }

  /** A scope that holds nothing: what an earlier run left is cleared, or refused where there is no way to clear it. */
  static async open(parts: StoreParts): Promise<McpStore> {
    const place = await parts.places.take(parts.call.signal);
    const store = new McpStore(parts, place);
    try {
      const left = await store.all();
      if (left.length > 0) {
        if (!parts.settings.clear) throw notEmpty(left.length);
        await store.#wipe();
      }
      return store;
    } catch (error) {
      await place.giveBack(false);
      throw error;
    }
  }

  async add(facts: readonly Fact[]): Promise<void> {
    const { tool, arguments: args, batch } = this.#parts.settings.write as WriteMapping;
    const written = this.#sources.add(facts).map(shown);
    const calls = batch === 'all' ? [{ facts: written }] : written.map((fact) => ({ fact }));
    for (const variables of calls) await this.#done(tool, this.#filled(args, variables));
  }

  async all(): Promise<StoredItem[]> {
    if (this.#gone) return [];
    const { reader } = this.#list;
    return this.#withSources(reader.texts(await this.#items()));
  }

  async find(query: string, k: number): Promise<{ items: RecallItem[]; raw?: Json }> {
    if (!this.#search) {
      throw new HeamsError('this memory is searched by its own tools alone', {
        code: 'memory_no_search',
        hint: 'use an agent with memory_strategy: tool, or name a search tool in the memory file',
      });
    }
    const { mapping, reader } = this.#search;
    const asked = async (text: string) => {
      const reply = await this.#done(mapping.tool, this.#filled(mapping.arguments, { query: text, k }));
      const root = reader.root(reply);
      return { raw: root, found: this.#withSources(reader.texts(reader.items(root))) };
    };
    if (mapping.per === 'query') {
      const { raw, found } = await asked(query);
      return { items: found.slice(0, k), raw };
    }
    const raw: Json[] = [];
    const replies: StoredItem[][] = [];
    for (const word of queryWords(query)) {
      const reply = await asked(word);
      raw.push({ query: word, reply: reply.raw });
      replies.push(reply.found);
    }
    return { items: this.#byWords(replies).slice(0, k), raw };
  }

  async clear(): Promise<void> {
    const { settings, places } = this.#parts;
    this.#signal = never;
    const own = settings.isolation === 'process';
    const stopped = this.#parts.call.signal.aborted;
    // What is the scope's own ends with it, and a server that is out of step is asked nothing more.
    const broken = !this.#sound || !this.#place.connection.alive || stopped;
    if (own && (!settings.clear || broken)) {
      this.#gone = true;
      return this.#place.giveBack(false);
    }
    if (!this.#place.connection.alive) this.#place = await places.take(never);
    try {
      await this.#wipe();
    } catch (error) {
      await this.#place.giveBack(false);
      throw error;
    }
    this.#gone = true;
    await this.#place.giveBack(true);
  }

  /** Clears the scope and looks whether it is empty. */
  async #wipe(): Promise<void> {
    const clear = this.#parts.settings.clear as NonNullable<Settings['clear']>;
    const items = await this.#items();
    const calls = clear.per === 'item' ? items.map((item) => ({ item })) : [{ items }];
    for (const variables of calls) await this.#done(clear.tool, this.#filled(clear.arguments, variables));
    const left = await this.#items();
    if (left.length > 0) throw notCleared(left.length, clear.tool);
  }

  async #items(): Promise<Json[]> {
    const { mapping, reader } = this.#list;
    return reader.items(reader.root(await this.#done(mapping.tool, this.#filled(mapping.arguments, {}))));
  }

  /** Whether all that was written is listed; of a system that rewrites, whether anything is. */
  async #listed(written: readonly Fact[]): Promise<boolean> {
    const texts = new Set((await this.all()).map(({ text }) => text));
    return this.#parts.settings.rewrites ? texts.size > 0 : written.every(({ text }) => texts.has(text));
  }

  #filled(args: Structure, variables: Variables): { [key: string]: Json } {
    return render(args, { ...variables, scope: this.#parts.scopeId }) as { [key: string]: Json };
  }

  async #ask(tool: string, args: { [key: string]: Json }): Promise<ToolReply> {
    try {
      return await this.#place.connection.call(tool, args, this.#signal);
    } catch (error) {
      if (!Connection.isRefusal(error)) this.#sound = false;
      throw error;
    }
  }

  /** What a tool gives that has not failed. */
  async #done(tool: string, args: { [key: string]: Json }): Promise<ToolReply> {
    const reply = await this.#ask(tool, args);
    if (!reply.failed) return reply;
    throw new HeamsError(`the MCP tool ${tool} failed: ${excerpt(reply.texts.join(' '), (same) => same)}`, {
      code: 'memory_tool_failed',
      hint: 'look at the arguments in the memory file, and at the server',
    });
  }

  #withSources(texts: readonly ReadText[]): StoredItem[] {
    const facts = this.#sources.ofTexts(texts.map(({ text }) => text));
    const { rewrites } = this.#parts.settings;
    return texts.map(({ text, factId }, i) => {
      const id = factId ?? (rewrites ? undefined : facts[i]?.id);
      return { text, fact_ids: id === undefined ? [] : [id] };
    });
  }

  /** What a reply to a mapped tool shows, for the agent's own use of it; nothing for tools that are not mapped. */
  #readAs(tool: string, reply: ToolReply): StoredItem[] | undefined {
    const mapped = [this.#search, this.#list].find((one) => one?.mapping.tool === tool);
    if (!mapped) return undefined;
    const { reader } = mapped;
    return this.#withSources(reader.texts(reader.items(reader.root(reply))));
  }

  /** The items of several replies by the number of replies that have them, then by when they were written. */
  #byWords(replies: readonly StoredItem[][]): RecallItem[] {
    const found = new Map<string, RecallItem & { score: number }>();
    for (const reply of replies) {
      for (const { text, fact_ids: ids } of reply) {
        const key = ids[0] === undefined ? `text ${text}` : `fact ${ids[0]}`;
        const known = found.get(key);
        if (known) known.score += 1;
        else found.set(key, { text, fact_ids: ids, score: 1 });
      }
    }
    const position = ({ fact_ids: ids }: RecallItem) => this.#sources.position(ids[0]);
    // Infinity less Infinity is no number, and stands for equal.
    return [...found.values()].sort((a, b) => b.score - a.score || position(a) - position(b) || 0);
  }
}

function notEmpty(count: number): HeamsError {
  return new HeamsError(`a fresh MCP server holds ${count} items already`, {
    code: 'memory_not_empty',
    expected: 'nothing: scopes must not see what others left',
    found: `${count} items`,
    hint: 'give each process a place of its own with {{ folder }} in args or env, or name a clear tool',
  });
}

function notCleared(count: number, tool: string): HeamsError {
  return new HeamsError(`the MCP server still holds ${count} items of a scope that ${tool} has cleared`, {
    code: 'memory_not_cleared',
    expected: 'nothing left of the scope',
    found: `${count} items`,
    hint: 'look at the clear tool in the memory file, and at the server',
  });
}
