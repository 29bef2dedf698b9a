import type { Rate } from '../../src/schema/rate.ts';
import { countText, fractionText, percent, percentRange } from './format.ts';

/** The interval as a line on a scale from none to all, the value as a mark on it. Says again what the numbers say. */
function IntervalBar({ rate }: { rate: Extract<Rate, { defined: true }> }) {
  const { low, high } = rate.interval;
  return (
    <svg class="interval-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" x="0" y="3" width="100" height="2" />
      <rect class="line" x={low * 100} y="2.5" width={Math.max(1, (high - low) * 100)} height="3" />
      <rect class="mark" x={Math.max(0, rate.value * 100 - 1)} y="0" width="2" height="8" />
    </svg>
  );
}

function titleOf(rate: Rate): string {
  if (!rate.defined) return rate.reason;
  const open = rate.unjudged + rate.failed;
  const bounds = open > 0 ? `; ${percentRange(rate.bounds)} with the unjudged and failed taken either way` : '';
  return `${fractionText(rate)}; 95 % interval ${percentRange(rate.interval)} (${rate.interval.method})${bounds}`;
}

export interface RateCellProps {
  rate: Rate;
  /** Where the samples behind the number are. */
  href?: string;
  /** What the number is, for a reader who hears it. */
  label: string;
  children?: preact.ComponentChildren;
}

/** A rate with its interval, its counts and what is open; the number leads to its samples. */
export function RateCell({ rate, href, label, children }: RateCellProps) {
  const text = rate.defined ? percent(rate.value) : 'undefined';
  const open = rate.unjudged + rate.failed;
  const name = `${label}: ${text}. ${titleOf(rate)}`;
  return (
    <div class="rate" title={titleOf(rate)}>
      {href && rate.defined ? (
        <a class="number" href={href} aria-label={name}>
          {text}
        </a>
      ) : (
        <span class={rate.defined ? 'number' : 'number undefined'}>{text}</span>
      )}
      {rate.defined && <IntervalBar rate={rate} />}
      <small>
        {rate.defined ? percentRange(rate.interval) : rate.reason}
        {rate.defined && <span class="counts">{fractionText(rate)}</span>}
        {open > 0 && <span class="open">+ {countText(open)} open</span>}
      </small>
      {children}
    </div>
  );
}
