import { type Block, type Cell, type Column, table } from '../../report/document.ts';
import { countText, fractionText, percentRange, rateText } from '../../report/format.ts';
import type { CiRates } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';

/** The metrics in the order of every table, with what each is called. */
export const metricNames = [
  ['leakage', 'overall', 'Leakage, overall'],
  ['leakage', 'per_scenario', 'Leakage, per scenario'],
  ['leakage', 'adjusted', 'Leakage, adjusted'],
  ['coverage', 'overall', 'Coverage, overall'],
  ['coverage', 'per_scenario', 'Coverage, per scenario'],
  ['coverage', 'adjusted', 'Coverage, adjusted'],
] as const;

export type NamedRate = readonly [name: string, rate: Rate];

export function namedRates(
  rates: Pick<CiRates, 'leakage' | 'coverage'> & Partial<Pick<CiRates, 'helpfulness'>>,
): NamedRate[] {
  const named: NamedRate[] = metricNames.map(([family, way, name]) => [name, rates[family][way]]);
  if (rates.helpfulness) named.push(['Helpfulness', rates.helpfulness]);
  return named;
}

/** A rate in one cell, with its interval or the reason why it has none. */
export function rateCell(rate: Rate, counts = false): Cell {
  if (!rate.defined) return { text: 'undefined', detail: rate.reason };
  const interval = percentRange(rate.interval);
  return { text: rateText(rate), detail: counts ? `${interval}, ${fractionText(rate)}` : interval };
}

const columns: Column[] = [
  { title: 'Metric' },
  { title: 'Value', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'Bounds', align: 'right' },
  { title: 'Counted', align: 'right' },
  { title: 'Unjudged', align: 'right' },
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
    countText(rate.failed),
  ]);
  return table(caption, columns, rows);
}
