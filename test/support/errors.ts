import { HeamsError } from '../../src/lib/errors.ts';

/** The HeamsError that some work rejects with; anything else fails the test. */
export async function heamsErrorOf(work: Promise<unknown>): Promise<HeamsError> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof HeamsError) return thrown;
  throw new Error(`expected a HeamsError, got ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
}
