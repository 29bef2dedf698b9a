import { HeamsError } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { Interrupted } from './interrupts.ts';
import { exit, type Io } from './io.ts';

/** Says what went wrong. A user's mistake comes without a stack trace; a defect of ours with one. */
export function reportError(error: unknown, io: Io): number {
  if (error instanceof Interrupted) {
    io.note('Stopped. Nothing is lost; the same command goes on.');
    return exit.interrupted;
  }
  if (error instanceof HeamsError) {
    for (const line of error.describe().split('\n')) io.note(safeTerminal(line));
    return exit.badInput;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.note('This is a defect of HEAMS, not of your input. Please report it with what stands below.');
  for (const line of text.split('\n')) io.note(safeTerminal(line));
  return exit.internal;
}
