#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CommanderError } from 'commander';
import { exit, type Io } from './io.ts';
import { buildProgram } from './program.ts';
import { selfCommand } from './self.ts';

/** Variables of the environment, and of `.env` in the working folder where the environment has none. */
function environment(cwd: string): Record<string, string | undefined> {
  let text: string;
  try {
    text = readFileSync(join(cwd, '.env'), 'utf8');
  } catch {
    return process.env;
  }
  return { ...parseEnv(text), ...process.env };
}

const cwd = process.cwd();
const io: Io = {
  out: (line) => process.stdout.write(`${line}\n`),
  note: (line) => process.stderr.write(`${line}\n`),
  terminal: process.stderr.isTTY === true,
  env: environment(cwd),
  cwd,
  command: selfCommand(process.argv[1], cwd),
};

// A reader such as `head` may close the pipe early; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exit.done);
  throw error;
});

try {
  await buildProgram(io, (code) => {
    process.exitCode = code;
  }).parseAsync(process.argv);
} catch (error) {
  // Commander has printed what it had to say, be it help or a complaint.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exit.done : exit.badInput;
  else {
    const { reportError } = await import('./report-error.ts');
    process.exitCode = reportError(error, io);
  }
}
