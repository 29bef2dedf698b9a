import { type Block, type Cell, type Column, table } from '../../report/document.ts';
import { countText, fractionText, percent, percentRange, rateText } from '../../report/format.ts';
import type { Rate } from '../../schema/rate.ts';

export type NamedRate = readonly [name: string, rate: Rate];

/** Share of what was asked that has no verdict; a dash where nothing was asked. */
export const unjudgedShareText = ({ unjudged_share }: Rate): string =>
  unjudged_share === undefined ? '–' : percent(unjudged_share);

/** What is missing from a rate, in a few words. */
function missingFrom(rate: Rate): string[] {
  const missing: string[] = [];
  if (rate.unjudged > 0) missing.push(`${unjudgedShareText(rate)} unjudged`);
  if (rate.failed > 0) missing.push(`${countText(rate.failed)} failed`);
  return missing;
}

/**
 * A rate in one cell, with all that is needed to doubt it: the interval, the bounds where anything is missing, what was
 * counted, and the share unjudged. "All judged" says that both bounds are the rate itself.
 */
export function rateCell(rate: Rate): Cell {
  const missing = missingFrom(rate);
  if (!rate.defined) return { text: 'undefined', detail: [rate.reason, ...missing] };
  const { low, high } = rate.bounds;
  const tight = low === high;
  return {
    text: rateText(rate),
    detail: [
      percentRange(rate.interval),
      ...(tight ? [] : [`bounds ${percentRange(rate.bounds)}`]),
      fractionText(rate),
      ...(missing.length > 0 ? missing : [tight ? 'all judged' : 'partly unjudged']),
    ],
  };
}

const columns: Column[] = [
  { title: 'Metric' },
  { title: 'Value', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'Bounds', align: 'right' },
  { title: 'Counted', align: 'right' },
  { title: 'Unjudged', align: 'right' },
  { title: 'Share unjudged', align: 'right' },
  { title: 'Failed', align: 'right' },
];

/** Rates one a row, with everything needed to doubt them. */
export function rateTable(caption: string, rates: readonly NamedRate[]): Block {
  const rows = rates.map(([name, rate]) => [
    name,
    rate.defined ? rateText(rate) : { text: 'undefined', detail: rate.reason },
    rate.defined ? percentRange(rate.interval) : 'undefined',
    rate.defined ? percentRange(rate.bounds) : 'undefined',
    fractionText(rate),
    countText(rate.unjudged),
    unjudgedShareText(rate),
    countText(rate.failed),
  ]);
  return table(caption, columns, rows);
}
