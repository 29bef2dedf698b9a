import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from './io.ts';

/** What verbs are added with. A verb's code is loaded when it is called: `--help` must not wait for a model library. */
export interface Verbs {
  io: Io;
  add(name: string, description: string, parent?: Command): Command;
  /** An action whose module is loaded when it runs. */
  action<O>(load: () => Promise<(options: O, io: Io) => Promise<number>>): (options: O) => Promise<void>;
  /** Told the exit code. */
  done(code: number): void;
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('expected a whole number above 0.');
  return value;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value)) throw new InvalidArgumentError('expected a whole number.');
  return value;
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a number above 0.');
  return value;
}

export const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** A folder's name; an empty one, as an unset variable gives, would mean the working folder. */
export function folder(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected the name of a folder.');
  return text;
}

/** A share, as of samples. */
export function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('expected a share from 0 to 1.');
  return value;
}

/** A part of the samples: `3/8`. */
export function shard(text: string): { index: number; count: number } {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? [];
  if (!index || !count || index > count) throw new InvalidArgumentError('expected i/n with 1 <= i <= n, as 3/8.');
  return { index, count };
}

/** An option that may be given several times. */
export const gathered = (text: string, before: string[] = []): string[] => [...before, text];

/** An option whose name begins with "no", and not the opposite of one. */
export function noWorseThan(): Option {
  const option = new Option('--no-worse-than <margin>', 'how much worse it may be: a share, or metric=share');
  option.negate = false;
  return option.argParser(gathered);
}

export const json = () => new Option('--json', 'print the result as JSON on standard output');
export const quiet = () => new Option('-q, --quiet', 'print nothing but errors and the result');
export const resultsDir = () =>
  new Option('--results-dir <folder>', 'a folder that `heams run --output-dir` wrote').makeOptionMandatory();
