import { basename, extname, resolve } from 'node:path';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { throwIfAny } from '../lib/errors.ts';
import { Loader } from './load-run.ts';
import type { Registry } from './registry.ts';
import type { Component } from './run.ts';
import { readYamlFile } from './yaml-file.ts';

/** Reads a memory file without a run around it, and checks it as a run would. Throws every problem found at once. */
export async function loadMemory(path: string, registry: Registry): Promise<Component<MemoryPlugin>> {
  const file = await readYamlFile(resolve(path));
  const loader = new Loader(file);
  // No benchmark offers anything: a memory's prompts have variables of their own.
  loader.offer([]);
  const kind = { folder: 'memory', key: 'backend', plugins: registry.memories } as const;
  const component = await loader.component<MemoryPlugin>(kind, [], { name: undefined, inline: file.data });
  throwIfAny(loader.errors);
  const { options, ...rest } = component as Component<MemoryPlugin>;
  const { name = basename(path, extname(path)) } = options as { name?: string };
  return { ...rest, options, name };
}
