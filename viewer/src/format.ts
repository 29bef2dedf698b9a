import type { Rate } from '../../src/schema/rate.ts';

export {
  countText,
  durationText,
  fractionText,
  moneyText,
  percent,
  percentRange,
  plural,
  rateText,
} from '../../src/report/format.ts';

/** A word for a state of `run_status.json`. */
export const stateWords = {
  running: 'running',
  done: 'done',
  done_with_failures: 'done, with failures',
  stopped: 'stopped',
  unknown: 'no status',
} as const;

export const scoreWords = ['Poor', 'Unsatisfactory', 'Good', 'Excellent'] as const;

/** The value of a rate for sorting; undefined ones come last. */
export const shareOf = (rate: Rate | undefined): number | undefined => (rate?.defined ? rate.value : undefined);
