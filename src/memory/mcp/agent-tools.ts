import type { MemoryTool, ToolAnswer } from '../../contracts/memory.ts';
import type { ToolSpec } from '../../contracts/model.ts';
import { HeamsError } from '../../lib/errors.ts';
import type { Json } from '../../schema/json.ts';
import type { RecallItem, StoredItem } from '../../schema/record.ts';
import { Connection, type ToolReply } from './connection.ts';
import type { Settings } from './options.ts';
import type { Sources } from './sources.ts';
import { render, type Structure } from './structure.ts';

export interface AgentToolsOptions {
  settings: Settings;
  scopeId: string;
  /** All tools of the server. */
  specs: readonly ToolSpec[];
  sources: Sources;
  call(tool: string, args: { [key: string]: Json }): Promise<ToolReply>;
  /** What the reply of a mapped tool shows; nothing for a tool that is not mapped. */
  read(tool: string, reply: ToolReply): StoredItem[] | undefined;
}

type Fields = { [key: string]: Json };
const isFields = (value: Json | undefined): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** The tools that a config allows, as the agent gets them. */
export function agentTools(options: AgentToolsOptions): MemoryTool[] {
  return options.settings.agentTools.map(({ tool, arguments: fixed }) => {
    const spec = options.specs.find(({ name }) => name === tool) as ToolSpec;
    return { spec: withoutFixed(spec, fixed), run: (input) => run(tool, fixed, input, options) };
  });
}

/** The tool without the arguments that HEAMS fills in: the agent neither sees nor sets them. */
function withoutFixed(spec: ToolSpec, fixed: Structure): ToolSpec {
  const { properties, required } = spec.inputSchema;
  const isFree = (name: Json) => !Object.hasOwn(fixed, String(name));
  return {
    ...spec,
    inputSchema: {
      ...spec.inputSchema,
      ...(isFields(properties)
        ? { properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isFree(name))) }
        : {}),
      ...(Array.isArray(required) ? { required: required.filter(isFree) } : {}),
    },
  };
}

async function run(tool: string, fixed: Structure, input: Json, options: AgentToolsOptions): Promise<ToolAnswer> {
  if (!isFields(input)) return { content: 'No result: the input must be an object.' };
  const args = { ...input, ...(render(fixed, { scope: options.scopeId }) as Fields) };
  let reply: ToolReply;
  try {
    reply = await options.call(tool, args);
  } catch (error) {
    // The server has answered, and the model may try again; a server that is gone is a failure of the memory.
    if (!Connection.isRefusal(error)) throw error;
    return { content: `No result: ${error.message}` };
  }
  const texts =
    reply.texts.length > 0 || reply.structured === undefined ? reply.texts : [JSON.stringify(reply.structured)];
  const content = texts.join('\n');
  const recallOf = (items: RecallItem[]) => ({
    query: JSON.stringify(input),
    items,
    raw: reply.structured ?? content,
  });
  if (!reply.failed) return { content, recall: recallOf(itemsOf(tool, reply, texts, options)) };
  // An error may repeat what is stored ("did you mean ..."): then the agent knows it, and a defence must see it.
  const shown = factItems(texts, options);
  return { content: `No result: ${content}`, ...(shown.length === 0 ? {} : { recall: recallOf(shown) }) };
}

/**
 * What the agent got to know. Of a tool that is mapped, the items that its reply has, so that another scope's is found
 * out; of any other, the facts whose text the reply shows.
 */
function itemsOf(tool: string, reply: ToolReply, texts: readonly string[], options: AgentToolsOptions): RecallItem[] {
  const { settings } = options;
  const mapped = readable(() => options.read(tool, reply));
  if (mapped && !settings.rewrites) return mapped;
  const items = factItems(texts, options);
  return settings.rewrites && items.length === 0 ? [{ text: texts.join('\n'), fact_ids: [] }] : items;
}

/** The facts whose text is shown: an item each, or, of a system that rewrites, all that is shown as one. */
function factItems(texts: readonly string[], { settings, sources }: AgentToolsOptions): RecallItem[] {
  const facts = sources.shownIn(texts);
  if (!settings.rewrites) return facts.map(({ id, text }) => ({ text, fact_ids: [id] }));
  return facts.length === 0 ? [] : [{ text: texts.join('\n'), fact_ids: facts.map(({ id }) => id) }];
}

/** A reply that is none of the mapping's form: an agent may ask the same tool for something else. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof HeamsError && error.code === 'memory_bad_response') return undefined;
    throw error;
  }
}
