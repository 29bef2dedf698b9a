import { basename, dirname, extname, resolve } from 'node:path';
import type {
  AgentPlugin,
  BenchmarkPlugin,
  DefencePlugin,
  MemoryPlugin,
  Path,
  PluginBase,
} from '../contracts/plugin.ts';
import { HeamsError, throwIfAny, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { checkTemplate } from '../lib/template.ts';
import { runFileSchema } from '../schema/run-file.ts';
import { armFiles, badNames, duplicateNames } from './arm-files.ts';
import { type ComponentFolder, componentPath } from './find-config.ts';
import { pick, type Registry } from './registry.ts';
import type { Arm, Component, Run } from './run.ts';
import { validate } from './validate.ts';
import { readYamlFile, type YamlFile } from './yaml-file.ts';

/** A part of a YAML file that stands for a file of its own. */
type Part = Pick<YamlFile, 'path' | 'data' | 'where' | 'whereKey' | 'whereText'>;

function partAt(file: YamlFile, at: Path, data: unknown): Part {
  return {
    path: file.path,
    data,
    where: (path) => file.where([...at, ...path]),
    whereKey: (path, key) => file.whereKey([...at, ...path], key),
    whereText: (path, wanted) => file.whereText([...at, ...path], wanted),
  };
}

interface Kind<P> {
  folder: ComponentFolder;
  /** The key whose value names the plug-in, and what it is when the key is absent. */
  key: 'benchmark' | 'kind' | 'backend' | 'defence';
  fallback?: string;
  plugins: Readonly<Record<string, () => Promise<P>>>;
}

/** A variable where a tag uses it, and not where the prose of a prompt happens to have the same word. */
function insideTag(variable: string): RegExp {
  const word = variable.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.-])${word}(?![\\w-])(?<=\\{[{%][^}]*)`);
}

/** Checks every prompt of a component: syntax, filters, and variables that nobody offers. */
function templateErrors(
  plugin: PluginBase<unknown>,
  options: unknown,
  offered: readonly string[],
  part: Part,
): HeamsError[] {
  return (plugin.templates?.(options, offered) ?? []).flatMap(({ path, source, variables, requires }) =>
    checkTemplate(source, variables, requires).map(({ message, variable, excerpt }) => {
      const meant = variable === undefined ? undefined : nearest(variable, variables);
      const wanted = variable === undefined ? excerpt : insideTag(variable);
      return new HeamsError(`${message} in "${path.join('.')}"`, {
        code: 'config_bad_template',
        where: wanted === undefined ? part.where(path) : part.whereText(path, wanted),
        expected: `a Liquid template over: ${variables.join(', ')}`,
        ...(variable === undefined ? {} : { found: variable }),
        ...(meant ? { hint: `did you mean "${meant}"?` } : {}),
      });
    }),
  );
}

/** Reads components, each file once, and gathers what is wrong with them. */
export class Loader {
  readonly errors: HeamsError[] = [];
  private readonly byFile = new Map<string, Promise<Component<PluginBase<unknown>> | undefined>>();
  private readonly file: YamlFile;
  /** Unknown while there is no benchmark to say. */
  private offered: readonly string[] | undefined;

  constructor(file: YamlFile) {
    this.file = file;
  }

  offer(variables: readonly string[] | undefined): void {
    this.offered = variables;
  }

  /** The component that `name` (a file) or `inline` (a mapping at `at`) describes; nothing when it has errors. */
  component<P extends PluginBase<unknown>>(
    kind: Kind<P>,
    at: Path,
    { name, inline }: { name: string | undefined; inline: unknown },
  ): Promise<Component<P> | undefined> {
    const path =
      name === undefined ? `${this.file.path}#${at.join('.')}` : componentPath(name, kind.folder, this.file.path);
    const known = this.byFile.get(`${kind.folder}:${path}`);
    if (known) return known as Promise<Component<P> | undefined>;
    const loading = this.load(kind, name === undefined ? partAt(this.file, at, inline) : path, this.file.where(at));
    const caught = loading.catch((error: unknown) => {
      if (!(error instanceof HeamsError)) throw error;
      this.errors.push(error);
      return undefined;
    });
    this.byFile.set(`${kind.folder}:${path}`, caught);
    return caught;
  }

  private async load<P extends PluginBase<unknown>>(
    kind: Kind<P>,
    from: Part | string,
    usedBy: Where,
  ): Promise<Component<P>> {
    const part = typeof from === 'string' ? await readYamlFile(from, usedBy) : from;
    if (part.data === null || typeof part.data !== 'object' || Array.isArray(part.data)) {
      throw new HeamsError('a component is a mapping of keys to values', {
        code: 'config_bad_value',
        where: part.where([]),
        expected: `keys and values, "${kind.key}" among them`,
        found: Array.isArray(part.data) ? 'a list' : part.data === null ? 'nothing' : `a ${typeof part.data}`,
      });
    }
    const data = part.data as Record<string, unknown>;
    const named = data[kind.key] ?? kind.fallback;
    const plugin = await pick(kind.key, kind.plugins, named, part.where([kind.key]));
    const options = validate(plugin.schema, data, part);
    const offered = 'offers' in plugin ? [] : this.offered;
    if (offered) throwIfAny(templateErrors(plugin, options, offered, part));
    const fallback = typeof from === 'string' ? basename(from, extname(from)) : plugin.name;
    const name = (options as { name?: string }).name ?? fallback;
    return { name, plugin, options, file: part.path, where: part.where };
  }
}

/** A defence that filters a memory, before a memory that nobody but its agent sees into. */
function unseen(defence: string, memory: string, where: Where): HeamsError {
  return new HeamsError(`the defence "${defence}" cannot filter the memory "${memory}", which is its agent's own`, {
    code: 'defence_cannot_filter',
    where,
    expected: 'a memory that HEAMS searches for the agent',
    found: memory,
    hint: 'leave this arm out, or take a defence that works on the prompt or on the message alone',
  });
}

/**
 * Reads a run file and every component it names, fills the defaults, and checks keys, types, plug-ins, prompts and
 * names. Touches no network and no environment. Throws every problem found at once.
 */
export async function loadRun(path: string, registry: Registry): Promise<Run> {
  const file = await readYamlFile(resolve(path));
  const settings = validate(runFileSchema, file.data, file);
  const loader = new Loader(file);
  const benchmark = await loader.component(
    { folder: 'benchmarks', key: 'benchmark', plugins: registry.benchmarks },
    [settings.benchmark ? 'benchmark' : 'benchmark_config_file'],
    { name: settings.benchmark_config_file, inline: settings.benchmark },
  );
  loader.offer(benchmark?.plugin.offers);
  const files = armFiles(settings);
  const arms: Arm[] = [];
  for (const arm of files) {
    const agent = await loader.component<AgentPlugin>(
      { folder: 'agents', key: 'kind', fallback: 'llm', plugins: registry.agents },
      arm.agentAt,
      { name: arm.agent_config_file, inline: arm.agent },
    );
    const memory = await loader.component<MemoryPlugin>(
      { folder: 'memory', key: 'backend', plugins: registry.memories },
      arm.memoryAt,
      { name: arm.memory_config_file, inline: arm.memory },
    );
    const defended = arm.defence_config_file !== undefined || arm.defence !== undefined;
    const defence = defended
      ? await loader.component<DefencePlugin>(
          { folder: 'defences', key: 'defence', plugins: registry.defences },
          arm.defenceAt,
          { name: arm.defence_config_file, inline: arm.defence },
        )
      : undefined;
    if (!agent || !memory) continue;
    if (defence?.plugin.filters?.(defence.options) && memory.plugin.ofAgent) {
      loader.errors.push(unseen(defence.name, memory.name, file.where(arm.defenceAt)));
    }
    arms.push({ name: arm.name, agent, memory, ...(defence ? { defence } : {}) });
  }
  throwIfAny([...badNames(files, file), ...duplicateNames(files, file), ...loader.errors]);
  if (!benchmark) throw new Error('unreachable: a benchmark that did not load left an error');
  return { file: file.path, settings, benchmark, arms };
}

/** Resolves a path of a component's file. */
export const resolveFrom = (component: Component) => (path: string) => resolve(dirname(component.file), path);

/** Reads the benchmark that a run file names, or a benchmark file itself, without the rest of a run. */
export async function loadBenchmark(path: string, registry: Registry): Promise<Component<BenchmarkPlugin>> {
  const file = await readYamlFile(resolve(path));
  const loader = new Loader(file);
  const kind = { folder: 'benchmarks', key: 'benchmark', plugins: registry.benchmarks } as const;
  const data = (file.data ?? {}) as Record<string, unknown>;
  const isRunFile = 'benchmark_config_file' in data || typeof data.benchmark === 'object';
  const settings = isRunFile ? validate(runFileSchema, file.data, file) : undefined;
  const component = settings
    ? await loader.component(kind, [settings.benchmark ? 'benchmark' : 'benchmark_config_file'], {
        name: settings.benchmark_config_file,
        inline: settings.benchmark,
      })
    : await loader.component(kind, [], { name: undefined, inline: file.data });
  throwIfAny(loader.errors);
  return component as Component<BenchmarkPlugin>;
}
