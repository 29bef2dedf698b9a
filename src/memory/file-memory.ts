import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { MemoryTool } from '../contracts/memory.ts';
import type { ChatModel } from '../contracts/model.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { type Template, template } from '../lib/template.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { keywordIndex } from './index/keyword-index.ts';
import { llmSchema, llmUse, openLlm, withLlmIdentity } from './memory-llm.ts';
import { keepNotes } from './notes/keep-notes.ts';
import { entryOf, type HeldEntry, heldEntries, itemOf } from './notes/note-entries.ts';
import { NOTES_ROOT } from './notes/note-path.ts';
import { noteTools } from './notes/note-tools.ts';
import { kindOfFile, NotesFolder } from './notes/notes-folder.ts';
import { searchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';
import { refuseUnstorable } from './storable-text.ts';
import { sessionsOf, toldFacts, toldVariables } from './told-facts.ts';

const DEFAULT_TOOL_CALLS = 32;
const forModel = ['llm', 'system_prompt', 'user_prompt', 'max_tool_calls'] as const;

const schema = z
  .strictObject({
    ...namingShape,
    backend: z.literal('file_memory'),
    ...searchShape,
    /** Where the folders of notes are made, relative to this file; a temporary folder that goes with the run where absent. */
    folder: z.string().min(1).optional(),
    /** `verbatim`: every fact is an entry of one note. `model`: a model is told the facts and keeps notes of them. */
    write: z.enum(['verbatim', 'model']).default('verbatim'),
    llm: llmSchema.optional(),
    /** With `write: model`: templates over `facts`, `session` and `at`. */
    system_prompt: z.string().min(1).optional(),
    user_prompt: z.string().min(1).optional(),
    /** With `write: model`: calls of tools for one session; 32 by default. */
    max_tool_calls: z.int().positive().optional(),
  })
  .superRefine((options, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    for (const key of forModel) {
      const given = options[key] !== undefined;
      if (options.write === 'verbatim' && given) wrong(key, `${key} needs write: model`);
      if (options.write === 'model' && !given && key !== 'max_tool_calls') wrong(key, `write: model needs ${key}`);
    }
  });
export type FileMemoryOptions = z.infer<typeof schema>;

/** Notes in a folder, which an agent with tools reads and changes; a search looks for their entries by keyword. */
export const fileMemory: MemoryPlugin<FileMemoryOptions> = {
  name: 'file_memory',
  summary: 'notes in a folder, which the agent manages with tools; keyword search over them',
  needs: 'nothing; with write: model a model',
  schema,
  models: ({ llm }) => (llm ? [llmUse(llm, 'keeping of notes')] : []),
  templates: ({ system_prompt: system = '', user_prompt: user = '', write }) =>
    write === 'verbatim'
      ? []
      : [
          { path: ['system_prompt'], source: system, variables: toldVariables },
          { path: ['user_prompt'], source: user, variables: toldVariables, requires: ['facts'] },
        ],
  identity: ({ folder: _, ...options }) => withLlmIdentity(options),
  inlined: (options, resolve) => (options.folder ? { ...options, folder: resolve(options.folder) } : options),
  async create(options, context) {
    const keeper = await keeperOf(options, context);
    const { base, remove } = await told(() => baseFolder(options.folder && context.resolve(options.folder)));
    return serviceBackend({
      name: 'file_memory',
      givesUpWrites: true,
      topK: options.top_k,
      clock: context.clock,
      capabilities: {
        stores: true,
        rewrites: keeper !== undefined,
        provenance: true,
        honours_k: true,
        ...(keeper?.capabilities ?? { needs_network: false, needs_key: false }),
      },
      open: (scopeId, call) => told(async () => openScope({ home: await scopeFolder(base, scopeId), keeper, call })),
      close: () => told(remove),
    });
  },
};

/** What the disk refuses, as an error that can be acted on. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HeamsError || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new HeamsError(`the folder of notes cannot be used: ${messageOf(error)}`, {
      code: 'memory_folder',
      hint: 'name another `folder`, or make room',
      cause: error,
    });
  }
}

async function baseFolder(given: string | undefined): Promise<{ base: string; remove(): Promise<void> }> {
  if (given) {
    await mkdir(given, { recursive: true });
    return { base: given, remove: async () => {} };
  }
  const base = await mkdtemp(join(tmpdir(), 'heams-notes-'));
  return { base, remove: () => rm(base, { recursive: true, force: true, maxRetries: 3 }) };
}

/** A new folder for a scope. What a killed run left under the scope's name goes. */
async function scopeFolder(base: string, scopeId: string): Promise<string> {
  const prefix = `scope-${sha256(scopeId).slice(0, 32)}-`;
  for (const name of await readdir(base)) {
    if (name.startsWith(prefix)) await rm(join(base, name), { recursive: true, force: true });
  }
  return mkdtemp(join(base, prefix));
}

/** A model that keeps the notes. */
interface Keeper {
  model: ChatModel;
  capabilities: Awaited<ReturnType<typeof openLlm>>['capabilities'];
  system: Template;
  user: Template;
  maxToolCalls: number;
}

async function keeperOf(
  options: FileMemoryOptions,
  context: Parameters<typeof openLlm>[1],
): Promise<Keeper | undefined> {
  const { llm, system_prompt: system, user_prompt: user, max_tool_calls: maxToolCalls = DEFAULT_TOOL_CALLS } = options;
  if (!llm || system === undefined || user === undefined) return undefined;
  return { ...(await openLlm(llm, context)), system: template(system), user: template(user), maxToolCalls };
}

interface ScopeParts {
  /** The scope's folder. */
  home: string;
  /** Absent where facts are written down as they are. */
  keeper: Keeper | undefined;
  /** Pays for the notes. */
  call: CallContext;
}

const VERBATIM_NOTE = `${NOTES_ROOT}/notes.md`;

function openScope({ home, keeper, call }: ScopeParts): ServiceStore {
  const folder = new NotesFolder(home);
  const facts: Fact[] = [];
  let cleared = false;
  const held = async (): Promise<HeldEntry[]> => heldEntries(await folder.all(), facts, keeper === undefined);

  const tools = noteTools({
    folder,
    shown: async (path, first, last) =>
      (await held()).filter((one) => one.path === path && one.first <= last && one.last >= first).map(itemOf),
    // Names that a model chose say something; the one that HEAMS chose does not.
    ...(keeper ? { listed: (text: string) => [{ text, fact_ids: [] }] } : {}),
  }).map(({ spec, run }): MemoryTool => ({ spec, run: (input) => told(() => run(input)) }));

  async function writeDown(added: readonly Fact[]): Promise<void> {
    refuseUnstorable(added, { system: 'a text file' });
    await folder.append(VERBATIM_NOTE, added.map(({ text }) => entryOf(text)).join(''));
  }

  async function tell({ model, system, user, maxToolCalls }: Keeper, added: readonly Fact[]): Promise<void> {
    for (const session of sessionsOf(added)) {
      const words = toldFacts(session);
      const messages = [
        { role: 'system' as const, content: system.render(words) },
        { role: 'user' as const, content: user.render(words) },
      ];
      await keepNotes({ model, messages, tools, maxToolCalls, call });
    }
  }

  return {
    tools,
    async add(added) {
      await told(() => (keeper ? tell(keeper, added) : writeDown(added)));
      facts.push(...added);
    },
    all: async () => (cleared ? leftIn(home) : (await told(held)).map(itemOf)),
    async find(query, k) {
      const entries = await told(held);
      const index = keywordIndex();
      await index.add(entries.map(({ text }) => text));
      const hits = await index.search(query, k);
      return { items: hits.map(({ position, ...hit }) => ({ ...itemOf(entries[position] as HeldEntry), ...hit })) };
    },
    async clear() {
      cleared = true;
      await told(() => rm(home, { recursive: true, force: true, maxRetries: 3 }));
    },
  };
}

/** The folder of a scope that was cleared, where it is there against all expectation. */
const leftIn = async (home: string) => ((await kindOfFile(home)) === 'absent' ? [] : [{ text: home, fact_ids: [] }]);
