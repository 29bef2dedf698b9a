import { z } from 'zod';
import type { Requirement, TemplateUse } from '../../contracts/plugin.ts';
import { isBareUrl } from '../../lib/bare-url.ts';
import { referencesIn } from '../../lib/env-references.ts';
import { headersSchema } from '../../schema/headers.ts';
import { json } from '../../schema/json.ts';
import { namingShape } from '../../schema/naming.ts';
import { searchShape } from '../options.ts';
import { parsePath } from './path.ts';
import { presetNames, presets } from './presets.ts';
import { listKeysIn, templatesOf } from './structure.ts';

const path = z.string().refine((text) => parsePath(text) !== undefined, {
  error: 'a path such as entities[].observations[0]; the empty path is the whole reply',
});
const isTemplate = (text: string) => text.includes('{{');
/** A path into an item, or a template over `item`. */
const text = z.string().refine((one) => isTemplate(one) || parsePath(one) !== undefined, {
  error: 'a path into the item, or a template with {{ item }}',
});
const tool = z.string().min(1);
const structure = z.record(z.string(), json).default({});

/** How a tool's reply is read: `json` is its structured content, or else its text parsed; `text` its texts as a list. */
const reading = {
  reply: z.enum(['json', 'text']).default('json'),
  /** Where the list is. */
  items: path,
  /** What of an item is its text; several where the path leads to several. */
  text,
  /** What of an item is the id of the fact that it came from. Needed only where the system rewrites facts. */
  fact_id: text.optional(),
} as const;

const writeSchema = z.strictObject({
  tool,
  arguments: structure,
  /** One call for each fact, or one for all that are written at once. */
  batch: z.enum(['fact', 'all']).default('fact'),
});
const searchSchema = z.strictObject({
  tool,
  arguments: structure,
  ...reading,
  /**
   * `query`: one call, in the order that it gives. `word`: one call for each word of the query, and what more words found
   * comes first: for a server that looks for the query as one piece of text.
   */
  per: z.enum(['query', 'word']).default('query'),
});
const listSchema = z.strictObject({ tool, arguments: structure, ...reading });
const clearSchema = z.strictObject({
  tool,
  arguments: structure,
  /** One call, or one for each item that `list` gives. */
  per: z.enum(['scope', 'item']).default('scope'),
});
const agentToolSchema = z.union([
  tool,
  /** `arguments` are added to what the agent says, which is not shown them. */
  z.strictObject({ tool, arguments: structure }),
]);

const mappingShape = {
  write: writeSchema.optional(),
  search: searchSchema.optional(),
  list: listSchema.optional(),
  clear: clearSchema.optional(),
} as const;

/** Names of what is a secret by its name: a literal one would stand in every results folder. */
const secretName = /key|token|secret|password|passwd|credential/i;
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable');
const shape = z.strictObject({
  ...namingShape,
  backend: z.literal('mcp'),
  ...searchShape,
  /** A mapping, and the program where none is named, for a server that many use. */
  preset: z.enum(presetNames).optional(),
  /** A program on the PATH, or a path from `cwd`, that speaks MCP on stdin and stdout. */
  command: z.string().min(1).optional(),
  /** `${NAME}` stands for an environment variable, `{{ folder }}` for a folder that is the process's own. */
  args: z.array(z.string()).default([]),
  /** The whole environment of the program, beside the few variables that every program needs. As `args`. */
  env: z.record(variableName, z.string()).default({}),
  cwd: z.string().min(1).default('.'),
  /** A server that speaks MCP over streamable HTTP. */
  url: z
    .url({ protocol: /^https?$/, error: 'a URL with http or https' })
    .refine(isBareUrl, 'no user, password or fragment in it; put a key into headers, as a reference')
    .optional(),
  headers: headersSchema,
  /** What keeps scopes apart: a process for each, or an argument of the tools. */
  isolation: z.enum(['process', 'argument']).optional(),
  /** With `isolation: process`: a process takes another scope once it was cleared and, asked again, holds nothing. */
  reuse_processes: z.boolean().default(false),
  /** Whether the system changes what it is given, as those do that extract or merge. */
  rewrites: z.boolean().default(false),
  ...mappingShape,
  /** The server's own tools, for an agent with `memory_strategy: tool`, in place of HEAMS's search. */
  agent_tools: z.array(agentToolSchema).min(1).optional(),
  /** Wait until `list` gives all that was written; for a server that answers a write before it has stored. */
  wait_for_list: z.boolean().default(false),
  poll_interval_s: z.number().positive().default(0.25),
  /** Scopes that may be open at once. */
  max_concurrency: z.int().positive().max(1024).default(8),
  /** Deadline of one request, in seconds. */
  timeout_s: z.number().positive().max(300).default(60),
  /** Deadline for a server to start and to name its tools, in seconds. */
  start_timeout_s: z.number().positive().max(300).default(60),
  /** The server's own version, where another one is to make another run. */
  version: z.string().min(1).optional(),
});
type Written = z.infer<typeof shape>;

/** A config with its preset filled in: all that the backend goes by. */
export type Settings = ReturnType<typeof settingsOf>;
export type WriteMapping = z.infer<typeof writeSchema>;
export type SearchMapping = z.infer<typeof searchSchema>;
export type ListMapping = z.infer<typeof listSchema>;
export type Reading = Pick<ListMapping, 'reply' | 'items' | 'text' | 'fact_id'>;

/** What the file says, and what its preset says where the file says nothing. */
export function settingsOf(written: Written) {
  const preset = written.preset === undefined ? undefined : presets[written.preset];
  const given = preset && z.strictObject(mappingShape).parse(preset.mapping);
  return {
    ...written,
    write: written.write ?? given?.write,
    search: written.search ?? given?.search,
    list: written.list ?? given?.list,
    clear: written.clear ?? given?.clear,
    env: { ...preset?.env, ...written.env },
    isolation: written.isolation ?? (written.url === undefined ? ('process' as const) : ('argument' as const)),
    agentTools: (written.agent_tools ?? []).map((one) =>
      typeof one === 'string' ? { tool: one, arguments: {} } : one,
    ),
    /** The program of the preset is started where the file names neither a program nor an address. */
    ownProgram: preset && written.command === undefined && written.url === undefined ? preset.program : undefined,
  };
}

type Problem = (path: readonly (string | number)[], message: string) => void;

function checkServer(written: Written, problem: Problem): void {
  const { command, url, preset, args, headers, isolation, reuse_processes: reuse, env } = written;
  if (command !== undefined && url !== undefined) problem(['url'], 'either command or url');
  if (command === undefined && url === undefined && preset === undefined) {
    problem(['command'], 'a command to start, a url, or a preset');
  }
  if (command === undefined && args.length > 0) problem(['args'], 'args need a command');
  if (url !== undefined && Object.keys(env).length > 0) problem(['env'], 'env needs a command');
  if (url === undefined && Object.keys(headers).length > 0) problem(['headers'], 'headers need a url');
  if (url !== undefined && isolation === 'process')
    problem(['isolation'], 'a server behind a url is no process of ours');
  if (reuse && (url !== undefined || isolation === 'argument')) {
    problem(['reuse_processes'], 'reuse_processes needs isolation: process');
  }
  for (const [name, value] of Object.entries(env)) {
    if (secretName.test(name) && value.trim() !== '' && referencesIn(value).length === 0) {
      problem(['env', name], `a secret is no part of a config file: write \${${name}} and set it in the environment`);
    }
  }
}

function checkMapping(settings: Settings, problem: Problem): void {
  const { write, search, list, clear, agentTools, isolation, reuse_processes: reuse } = settings;
  if (!write) problem(['write'], 'which tool writes a fact');
  if (!list) problem(['list'], 'which tool gives all that is stored: what was kept is read back');
  if (!search && agentTools.length === 0) problem(['search'], 'which tool searches, or agent_tools');
  if (!clear && reuse) problem(['clear'], 'which tool clears: a process is used again only once it was cleared');
  const lists = listKeysIn(write?.arguments ?? {});
  if (lists.includes('$each_fact') && write?.batch !== 'all')
    problem(['write', 'batch'], '$each_fact needs batch: all');
  if (isolation !== 'argument') return;
  if (!clear) problem(['clear'], 'which tool clears a scope: with isolation: argument nothing else removes it');
  if (clear && !/\{\{[^}]*\b(?:scope|items?)\b|\$each_item/.test(JSON.stringify(clear.arguments))) {
    const needs = 'it needs an argument with {{ scope }}, or the items to clear';
    problem(['clear'], `with isolation: argument ${needs}: it would empty the scopes of others`);
  }
  const uses = { write: write?.arguments, search: search?.arguments, list: list?.arguments };
  const named = agentTools.map((one, i) => [['agent_tools', i], one.arguments] as const);
  for (const [at, given] of [...Object.entries(uses).map(([key, one]) => [[key], one] as const), ...named]) {
    if (given === undefined || /\{\{[^}]*\bscope\b/.test(JSON.stringify(given))) continue;
    problem(at, 'with isolation: argument every tool needs an argument with {{ scope }}, or scopes would mix');
  }
}

export const mcpSchema = shape.superRefine((written, context) => {
  const problem: Problem = (at, message) => context.addIssue({ code: 'custom', path: [...at], message });
  checkServer(written, problem);
  checkMapping(settingsOf(written), problem);
});
export type McpOptions = z.infer<typeof mcpSchema>;

function readingTemplates(reading: Reading | undefined, at: string): TemplateUse[] {
  const named = [
    ['text', reading?.text],
    ['fact_id', reading?.fact_id],
  ] as const;
  return named.flatMap(([key, source]) =>
    source !== undefined && isTemplate(source) ? [{ path: [at, key], source, variables: ['item'] }] : [],
  );
}

/** The templates that stand in the file; those of a preset are held right by tests. */
export function templateUses({ args, env, write, search, list, clear, agent_tools: tools }: McpOptions): TemplateUse[] {
  const folder = ['folder'];
  return [
    ...templatesOf(args, ['args'], folder),
    ...templatesOf(env, ['env'], folder),
    ...(write
      ? templatesOf(
          write.arguments,
          ['write', 'arguments'],
          write.batch === 'all' ? ['facts', 'scope'] : ['fact', 'scope'],
        )
      : []),
    ...(search ? templatesOf(search.arguments, ['search', 'arguments'], ['query', 'k', 'scope']) : []),
    ...(list ? templatesOf(list.arguments, ['list', 'arguments'], ['scope']) : []),
    ...(clear
      ? templatesOf(
          clear.arguments,
          ['clear', 'arguments'],
          clear.per === 'item' ? ['item', 'scope'] : ['items', 'scope'],
        )
      : []),
    ...(tools ?? []).flatMap((one, i) =>
      typeof one === 'string' ? [] : templatesOf(one.arguments, ['agent_tools', i, 'arguments'], ['scope']),
    ),
    ...readingTemplates(search, 'search'),
    ...readingTemplates(list, 'list'),
  ];
}

export const MCP_SDK = { name: '@modelcontextprotocol/sdk', install: '@modelcontextprotocol/sdk@1' } as const;

export function needsOf(options: McpOptions): Requirement[] {
  const { command, url, args, env, headers } = options;
  const { ownProgram } = settingsOf(options);
  const variables = (texts: readonly (readonly [string, readonly (string | number)[]])[], role: string) =>
    texts.flatMap(([value, at]) =>
      referencesIn(value).map((name) => ({ kind: 'variable' as const, name, path: [...at], role })),
    );
  const pairs = (key: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => [value, [key, name]] as const);
  return [
    { kind: 'package', ...MCP_SDK },
    ...(ownProgram ? [{ kind: 'package' as const, name: ownProgram.name, install: ownProgram.install }] : []),
    ...(command === undefined ? [] : [{ kind: 'program' as const, name: command, path: ['command'] }]),
    ...(url === undefined ? [] : [{ kind: 'server' as const, url, path: ['url'] }]),
    ...variables([...args.map((one, i) => [one, ['args', i]] as const), ...pairs('env', env)], 'the MCP server'),
    ...variables(pairs('headers', headers), 'a header for the MCP server'),
  ];
}

const transport: readonly (keyof McpOptions)[] = [
  ...(['name', 'description', 'url', 'headers', 'cwd', 'timeout_s', 'start_timeout_s'] as const),
  ...(['max_concurrency', 'poll_interval_s', 'wait_for_list', 'reuse_processes'] as const),
];

/** What can change an outcome, with the preset written out: not where the server is, and at which pace. */
export function mcpIdentity(options: McpOptions): object {
  const { write, search, list, clear, env, isolation } = settingsOf(options);
  const all = { ...options, write, search, list, clear, env, isolation };
  return Object.fromEntries(Object.entries(all).filter(([key]) => !(transport as readonly string[]).includes(key)));
}
