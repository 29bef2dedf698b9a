import { basename, relative, sep } from 'node:path';
import type { Io } from './io.ts';

/**
 * How the user can start this program again: from the path that Node was started with. An installed package is reached
 * through npx, a global one by its name, and a clone by its file.
 *
 * @param script - `process.argv[1]`
 */
export function selfCommand(script: string | undefined, cwd: string): string {
  if (script === undefined) return 'heams';
  const steps = script.split(sep);
  if (steps.includes('node_modules')) return 'npx heams';
  if (/^heams(\.cmd|\.ps1)?$/.test(basename(script))) return 'heams';
  const path = relative(cwd, script) || script;
  const shown = / /.test(path) ? `"${path}"` : path;
  return script.endsWith('.ts') ? `node --import tsx ${shown}` : `node ${shown}`;
}

/** The command of a hint: `npx heams rollup --results-dir results/x`. */
export const commandLine = (io: Io, rest: string): string => `${io.command ?? 'heams'} ${rest}`;
