import { HeamsError } from '../lib/errors.ts';
import type { SampleRecord } from '../schema/record.ts';

/** Failures that do not pass by themselves and meet every sample alike: a key, an account, a name of a model. */
const refusals: ReadonlySet<string> = new Set([
  'model_auth',
  'model_quota',
  'model_not_found',
  'agent_auth',
  'memory_auth',
  'memory_auth_failed',
]);

/** As many in a row are no accident of one sample. */
const IN_A_ROW = 5;

/** Sees whether an arm is refused again and again: going on would fail every sample that is left in the same way. */
export class RefusalWatch {
  private readonly inARow = new Map<string, { code: string; count: number }>();

  /** The error to stop with, once five records of one arm in a row have failed with the same refusal. */
  see(record: SampleRecord): HeamsError | undefined {
    const { experiment } = record;
    if (record.status === 'done' || !refusals.has(record.error.code)) {
      this.inARow.delete(experiment);
      return undefined;
    }
    const { code, message } = record.error;
    const before = this.inARow.get(experiment);
    const count = before?.code === code ? before.count + 1 : 1;
    this.inARow.set(experiment, { code, count });
    if (count < IN_A_ROW) return undefined;
    return new HeamsError(`${count} samples in a row of ${experiment} were refused (${code}): ${message}`, { code });
  }
}
