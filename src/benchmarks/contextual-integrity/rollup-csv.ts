import { type CsvValue, toCsv } from '../../report/csv.ts';
import type { CiMetrics, CiRates } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';
import { metricNames } from './report-rates.ts';

/**
 * Columns of `metrics.csv`: one rate a row, so that a table tool can filter and pivot. `items` is `all` or `unflagged`.
 * `group` and `group_value` are empty for the whole arm, else a tag and its value. An undefined rate has the word
 * `undefined` as its value, and its reason in the last column.
 */
export const csvColumns = [
  'experiment',
  'agent',
  'memory',
  'backend',
  'items',
  'group',
  'group_value',
  'metric',
  'value',
  'interval_low',
  'interval_high',
  'interval_method',
  'bound_low',
  'bound_high',
  'numerator',
  'denominator',
  'unjudged',
  'failed',
  'undefined_reason',
] as const;

function rateColumns(rate: Rate): CsvValue[] {
  const counts = [rate.numerator, rate.denominator, rate.unjudged, rate.failed];
  if (!rate.defined) return ['undefined', ...Array<CsvValue>(5).fill('undefined'), ...counts, rate.reason];
  const { value, interval, bounds } = rate;
  return [value, interval.low, interval.high, interval.method, bounds.low, bounds.high, ...counts, undefined];
}

type SomeRates = Pick<CiRates, 'leakage' | 'coverage'> & Partial<Pick<CiRates, 'helpfulness'>>;

function rows(head: readonly CsvValue[], rates: SomeRates): CsvValue[][] {
  const named: [string, Rate][] = metricNames.map(([family, way]) => [`${family}_${way}`, rates[family][way]]);
  if (rates.helpfulness) named.push(['helpfulness', rates.helpfulness]);
  return named.map(([name, rate]) => [...head, name, ...rateColumns(rate)]);
}

function armRows(metrics: CiMetrics): CsvValue[][] {
  const { identity, unflagged, breakdowns } = metrics;
  const arm = [identity.experiment, identity.agent, identity.memory, identity.backend];
  return [
    ...rows([...arm, 'all', undefined, undefined], metrics),
    ...rows([...arm, 'unflagged', undefined, undefined], unflagged),
    ...breakdowns.flatMap(({ tag, values }) =>
      values.flatMap((group) => rows([...arm, 'all', tag, group.value], group)),
    ),
  ];
}

export const rollupCsv = (arms: readonly CiMetrics[]): string => toCsv(csvColumns, arms.flatMap(armRows));
