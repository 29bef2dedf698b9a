import type { Env } from './env-references.ts';

/** What a program needs to be found, to find its files and to speak UTF-8. No key is among them. */
const MINIMUM = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...['SystemRoot', 'SYSTEMROOT', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'ProgramFiles'],
];

/** The part of the environment that every program is given; what else it needs, its config names. */
export function minimumEnv(env: Env): Record<string, string> {
  const there = MINIMUM.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return Object.fromEntries(there);
}
