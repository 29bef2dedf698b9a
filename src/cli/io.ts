/** The terminal and the environment, as a command sees them. Only `main.ts` makes one from the real process. */
export interface Io {
  /** A line of the command's result, on standard output. */
  out(line: string): void;
  /** A line about what is going on, on standard error. */
  note(line: string): void;
  /** Whether standard error is a terminal that a progress bar can live on. */
  terminal: boolean;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** How the user starts this program: `npx heams`, or `node dist/cli/main.js` in a clone; `heams` where absent. */
  command?: string;
}

/** Exit codes, as documented in docs/cli.md. */
export const exit = {
  done: 0,
  withFailures: 1,
  badInput: 2,
  stopped: 3,
  gate: 4,
  unproven: 5,
  internal: 70,
  interrupted: 130,
} as const;
