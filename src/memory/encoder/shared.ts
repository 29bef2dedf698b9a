import { createEncoder, type Encoder } from './encoder.ts';

export { BUILTIN_ENCODER } from './encoder.ts';

let shared: { encoder: Encoder; borrowers: number } | undefined;

/**
 * The encoder of this process: every backend that borrows it gets the same worker and the same cache. Each gives it
 * back with `close`; the last one ends the worker.
 */
export function borrowEncoder(): Encoder {
  shared ??= { encoder: createEncoder(), borrowers: 0 };
  const loan = shared;
  loan.borrowers += 1;
  let returned = false;
  return {
    ...loan.encoder,
    async close() {
      if (returned) return;
      returned = true;
      loan.borrowers -= 1;
      if (loan.borrowers > 0) return;
      if (shared === loan) shared = undefined;
      await loan.encoder.close();
    },
  };
}
