import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../lib/shipped.ts';

/**
 * The config file that a user names: as it stands from the working folder, or else among the configs that HEAMS ships,
 * so that the documented commands work right after an install.
 */
export function configPath(name: string, cwd: string): string {
  const here = resolve(cwd, name);
  if (existsSync(here) || !/^(\.\/)?configs\//.test(name)) return here;
  const shipped = join(packageRoot(), name);
  return existsSync(shipped) ? shipped : here;
}
