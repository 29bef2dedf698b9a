import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/** Folders of the component kinds under a folder named `configs`. */
export type ComponentFolder = 'benchmarks' | 'agents' | 'memory' | 'defences';

/** The nearest ancestor folder named `configs`. */
function configsFolder(file: string): string | undefined {
  for (let dir = dirname(resolve(file)); dir !== dirname(dir); dir = dirname(dir)) {
    if (basename(dir) === 'configs') return dir;
  }
  return undefined;
}

/**
 * Where a component file named in `from` is: below the matching folder of the nearest `configs` ancestor for a path
 * without `./`, `../` or `/` in front, and relative to `from` for any other.
 */
export function componentPath(name: string, folder: ComponentFolder, from: string): string {
  if (isAbsolute(name)) return name;
  const configs = configsFolder(from);
  if (/^\.{1,2}\//.test(name) || !configs) return resolve(dirname(from), name);
  return join(configs, folder, name);
}
