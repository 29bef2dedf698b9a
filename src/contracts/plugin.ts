import type { z } from 'zod';
import type { Json } from '../schema/json.ts';
import type { ModelSettings } from '../schema/model-settings.ts';
import type { Agent } from './agent.ts';
import type { Benchmark } from './benchmark.ts';
import type { Clock } from './call.ts';
import type { Defence } from './defence.ts';
import type { MemoryBackend } from './memory.ts';
import type { ChatModel, EmbeddingModel } from './model.ts';

export type Path = readonly (string | number)[];

/** A prompt in a config file, and the variables it may use. */
export interface TemplateUse {
  path: Path;
  source: string;
  variables: readonly string[];
  /** A variable without which the prompt makes no sense. */
  requires?: readonly string[];
}

/** A model that a config file names, and the key of the id in that file. */
export interface ModelUse {
  path: Path;
  settings: ModelSettings;
  kind: 'chat' | 'embedding';
  /** What needs it, in words: "agent", "judge", "embeddings". */
  role: string;
}

/** Something that must be there, other than a model, before a component can work. */
export type Requirement =
  /** An npm package that is not installed with HEAMS. */
  | { kind: 'package'; name: string; install: string }
  /** An environment variable, and what needs it. */
  | { kind: 'variable'; name: string; path: Path; role: string }
  /** A server that must answer; `heams doctor` tells whether it does. */
  | { kind: 'server'; url: string; path: Path }
  /** A program that HEAMS starts. */
  | { kind: 'program'; name: string; path: Path };

/** What a plug-in is given to build itself with. Nothing else reaches it from outside. */
export interface PluginContext {
  model(settings: ModelSettings): Promise<ChatModel>;
  embedder(settings: ModelSettings): Promise<EmbeddingModel>;
  clock: Clock;
  /** The run's seed. */
  seed: number;
  /** Environment variables, read once by the command line. */
  env: Readonly<Record<string, string | undefined>>;
  /** Resolves a path of the component's file. */
  resolve(path: string): string;
  /** `datasets`: where downloads are kept. `shipped`: the folder of HEAMS's own data files. */
  folders: { datasets: string; shipped: string };
  /** The agent of the arm; only where the plug-in is a memory that belongs to its agent (`ofAgent`). */
  agent?: Agent;
}

/** What every plug-in declares. One file, one registry line. */
export interface PluginBase<O> {
  readonly name: string;
  /** One line for `heams list`. */
  readonly summary: string;
  /** What it needs to run, in words; "nothing" where that is so. */
  readonly needs: string;
  /** The whole config file, strict: an unknown key is an error. */
  readonly schema: z.ZodType<O>;
  /** Models that the file names. */
  models?(options: O): ModelUse[];
  /** What else must be there. Packages and variables are checked before anything starts. */
  requires?(options: O): Requirement[];
  /** Prompts in the file. `offered` are the variables that the benchmark gives to agents. */
  templates?(options: O, offered: readonly string[]): TemplateUse[];
  /** What of the options can change an outcome; all but names and transport settings where this is absent. */
  identity?(options: O): unknown;
  /** The options as they read from another folder: relative paths made absolute. */
  inlined?(options: O, resolve: (path: string) => string): O;
}

export interface AgentPlugin<O = unknown> extends PluginBase<O> {
  create(options: O, context: PluginContext): Promise<Agent>;
}

export interface DefencePlugin<O = unknown> extends PluginBase<O> {
  /** Whether it acts on what a memory gives its agent, so that it cannot stand before an agent's own memory. */
  filters?(options: O): boolean;
  create(options: O, context: PluginContext): Promise<Defence>;
}

export interface MemoryPlugin<O = unknown> extends PluginBase<O> {
  /** The memory is its agent's own: it is built once for each agent, which is in its context. */
  readonly ofAgent?: true;
  create(options: O, context: PluginContext): Promise<MemoryBackend>;
}

export interface Regrading {
  /** The judge model in place of the configured one. */
  judgeModelId?: string;
  /** The grades there are, to tell new judges from those that gave them. */
  grades: AsyncIterable<Json>;
}

export interface BenchmarkPlugin<O = unknown> extends PluginBase<O> {
  /** Names of the template variables that agents may use. */
  readonly offers: readonly string[];
  /** The options with another limit on the number of samples; `Infinity` for none. */
  limited(options: O, limit: number): O;
  /** The options for grading messages again that have grades already. Absent where grades cannot stand side by side. */
  regraded?(options: O, change: Regrading): Promise<O>;
  create(options: O, context: PluginContext): Promise<Benchmark>;
}
