import { percent, percentRange, plural } from '../../report/format.ts';
import type { Difference } from '../../schema/ci-comparison.ts';
import type { GateCheck } from '../../schema/ci-gate.ts';
import type { Rate } from '../../schema/rate.ts';
import { pointsRange, pointsText } from './compare-report.ts';
import type { Limit, Margin } from './gate-limits.ts';

export interface GateRules {
  /** `interval`: the unfavourable end of the 95 % interval must satisfy a limit. `point`: the value must. */
  on: 'interval' | 'point';
  allowUndefined: boolean;
  /** Up to this share of unjudged, failed and missing is let pass; 0 unless told. */
  allowUnjudged: number;
}

type Decided = Pick<GateCheck, 'status' | 'reason'> & Partial<Pick<GateCheck, 'value' | 'interval' | 'bounds'>>;

const ends = ({ low, high }: { low: number; high: number }) => ({ low, high });

function undecidable(reason: string, rules: GateRules): Decided {
  return { status: rules.allowUndefined ? 'skipped' : 'failed', reason: `undefined: ${reason}` };
}

interface Question {
  value: number;
  interval: { low: number; high: number };
  bounds: { low: number; high: number };
  /** Which end is the unfavourable one. */
  worse: 'low' | 'high';
  /** Whether a number is within the limit. */
  within(number: number): boolean;
  /** Share of what is unjudged or failed. */
  open: number;
  shown: string;
  range(ends: { low: number; high: number }): string;
}

/**
 * Holds where the value is within the limit, and so is the unfavourable end of its interval (unless the point decides)
 * and the unfavourable bound over what is unjudged and failed (unless so little of it is allowed).
 */
function decide(question: Question, rules: GateRules): Decided {
  const { value, interval, bounds, worse, within, open, shown, range } = question;
  const excused = open <= rules.allowUnjudged;
  const facts = { value, interval: ends(interval), bounds: ends(bounds) };
  const text = `${shown}, 95 % interval ${range(interval)}, bounds ${range(bounds)}`;
  const fail = (why: string): Decided => ({ status: 'failed', reason: `${text}: ${why}`, ...facts });
  if (!within(value)) return fail('the value is beyond the limit');
  if (rules.on === 'interval' && !within(interval[worse])) return fail('the end of the interval is beyond the limit');
  if (!excused && !within(bounds[worse])) {
    return fail(`with ${percent(open)} unjudged or failed, the bound is beyond the limit`);
  }
  return { status: 'passed', reason: text, ...facts };
}

/** Decides one limit on a rate. A rate that these metrics do not have is undefined. */
export function decideLimit(rate: Rate | undefined, limit: Limit, rules: GateRules): Decided {
  if (!rate) return undecidable('these records have no such rate', rules);
  if (!rate.defined) return undecidable(rate.reason, rules);
  const open = rate.unjudged + rate.failed;
  return decide(
    {
      value: rate.value,
      interval: rate.interval,
      bounds: rate.bounds,
      worse: limit.side === 'max' ? 'high' : 'low',
      within: (number) => (limit.side === 'max' ? number <= limit.value : number >= limit.value),
      open: open / (rate.denominator + open),
      shown: percent(rate.value),
      range: percentRange,
    },
    rules,
  );
}

/** Decides whether a difference from the other run is no worse than the margin. Leakage is worse above, the rest below. */
export function decideMargin(difference: Difference, { metric, value: margin }: Margin, rules: GateRules): Decided {
  if (!difference.defined) return undecidable(difference.reason, rules);
  const up = metric.startsWith('leakage.');
  const { value, interval, bounds, open, judged } = difference;
  const left = open.baseline + open.arm + open.both;
  return decide(
    {
      value,
      interval,
      bounds,
      worse: up ? 'high' : 'low',
      within: (number) => (up ? number : -number) <= margin,
      open: left / (judged + left),
      shown: `${pointsText(value)} points`,
      range: pointsRange,
    },
    rules,
  );
}

/** Decides whether enough of what was planned is there. */
export function decideShare(lost: number, all: number, words: string, rules: GateRules): Decided {
  if (all === 0) return { status: 'failed', reason: 'no record yet' };
  const share = lost / all;
  const status = share <= rules.allowUnjudged ? 'passed' : 'failed';
  return { status, reason: `${lost === 0 ? 'none' : percent(share)} of ${plural(all, 'sample')} ${words}` };
}
