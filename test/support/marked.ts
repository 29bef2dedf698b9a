import { HeamsError, HeamsErrors } from '../../src/lib/errors.ts';

const MARK = '▸';

/** A text without its mark, and the line and column (from 1) of what stood behind the mark. */
export function marked(text: string): { text: string; line: number; column: number } {
  const lines = text.split('\n');
  const index = lines.findIndex((line) => line.includes(MARK));
  if (index < 0) throw new Error('the text has no mark');
  return { text: text.replace(MARK, ''), line: index + 1, column: (lines[index] as string).indexOf(MARK) + 1 };
}

/** Every problem that an action ends with, one by one. Anything that is not a user's error is thrown on. */
export async function problemsOf(act: () => unknown): Promise<readonly HeamsError[]> {
  try {
    await act();
  } catch (error) {
    if (error instanceof HeamsErrors) return error.errors;
    if (error instanceof HeamsError) return [error];
    throw error;
  }
  return [];
}

/** The only problem that an action ends with. */
export async function problemOf(act: () => unknown): Promise<HeamsError> {
  const problems = await problemsOf(act);
  const [only] = problems;
  if (only && problems.length === 1) return only;
  throw new Error(
    `expected one problem, found ${problems.length}:\n${problems.map((one) => one.describe()).join('\n')}`,
  );
}
