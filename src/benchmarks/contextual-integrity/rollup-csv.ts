import { type CsvValue, toCsv } from '../../report/csv.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';
import { metricRates, type SomeRates } from './metric-names.ts';
import { scaleOf } from './scale.ts';

/**
 * Columns of `metrics.csv`: one rate a row, so that a table tool can filter and pivot. `items` is `all` or `unflagged`.
 * `group` and `group_value` are empty for the whole arm, else a tag and its value, `repeat` and its number, or `k` and its
 * value. An undefined rate has the word `undefined` as its value, and its reason in the last column. `unjudged_share` is
 * empty where there was nothing to judge.
 */
export const csvColumns = [
  'experiment',
  'agent',
  'agent_kind',
  'memory',
  'backend',
  'defence',
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
  'unjudged_share',
  'failed',
  'undefined_reason',
] as const;

function rateColumns(rate: Rate): CsvValue[] {
  const counts = [rate.numerator, rate.denominator, rate.unjudged, rate.unjudged_share, rate.failed];
  if (!rate.defined) return ['undefined', ...Array<CsvValue>(5).fill('undefined'), ...counts, rate.reason];
  const { value, interval, bounds } = rate;
  return [value, interval.low, interval.high, interval.method, bounds.low, bounds.high, ...counts, undefined];
}

const row = (head: readonly CsvValue[], key: string, rate: Rate): CsvValue[] => [
  ...head,
  key.replaceAll('.', '_'),
  ...rateColumns(rate),
];

const rows = (head: readonly CsvValue[], rates: SomeRates): CsvValue[][] =>
  metricRates(rates).map(({ key, rate }) => row(head, key, rate));

const armColumns = ({ experiment, agent, agent_kind, memory, backend, defence }: CiMetrics['identity']): CsvValue[] => [
  experiment,
  agent,
  agent_kind,
  memory,
  backend,
  defence,
];

/** Rates of the whole arm beside leakage, coverage and helpfulness. */
function otherRates({
  exposure,
  unsent,
  recall_quality,
  string_judges,
  repeats,
}: CiMetrics): [key: string, rate: Rate][] {
  const sides = (['secret', 'field'] as const).flatMap((side): [string, Rate][] => [
    [`${side}.recalled`, exposure[side].recalled_share],
    [`${side}.recalled_given_stored`, exposure[side].recalled_given_stored],
    [`${side}.disclosed_given_recalled`, exposure[side].disclosed_given_recalled],
  ]);
  const strings = string_judges.flatMap(({ judge, secret, field }): [string, Rate][] => {
    const variant = judge.split(':').at(-1) ?? judge;
    return [
      [`string_${variant}.leakage_overall`, secret.rate],
      [`string_${variant}.coverage_overall`, field.rate],
    ];
  });
  const again: [string, Rate][] = repeats
    ? [
        ['any_of_n', repeats.any_of_n],
        ['worst_of_n', repeats.worst_of_n],
        ['flips.leakage', repeats.flips.leakage],
        ['flips.helpfulness', repeats.flips.helpfulness],
      ]
    : [];
  const { recall, precision } = recall_quality;
  const apart = (['reasoning', 'draft'] as const).flatMap((place): [string, Rate][] => {
    const rates = unsent?.[place];
    if (!rates) return [];
    return [
      [`unsent.${place}.overall`, rates.overall],
      [`unsent.${place}.per_scenario`, rates.per_scenario],
    ];
  });
  return [...sides, ...apart, ['recall_at_k', recall], ['precision_at_k', precision], ...strings, ...again];
}

function armRows(metrics: CiMetrics): CsvValue[][] {
  const { identity, unflagged, breakdowns, repeats } = metrics;
  const arm = armColumns(identity);
  const whole = [...arm, 'all', undefined, undefined];
  return [
    ...rows(whole, metrics),
    ...otherRates(metrics).map(([key, rate]) => row(whole, key, rate)),
    ...rows([...arm, 'unflagged', undefined, undefined], unflagged),
    ...breakdowns.flatMap(({ tag, values }) =>
      values.flatMap((group) => rows([...arm, 'all', tag, group.value], group)),
    ),
    ...(repeats?.each ?? []).flatMap((one) => rows([...arm, 'all', 'repeat', String(one.repeat)], one)),
    ...(repeats?.cumulative ?? []).map(({ k, rate }) => row([...arm, 'all', 'k', String(k)], 'any_of_k', rate)),
  ];
}

/** Where each arm lies on the scale of the controls. Such a value is no rate: it has no counts, and may lie beyond 0 and 1. */
function scaleRows(arms: readonly CiMetrics[]): CsvValue[][] {
  const none = Array<CsvValue>(5).fill(undefined);
  return scaleOf(arms).arms.flatMap((placed, i) => {
    const { identity } = arms[i] as CiMetrics;
    const arm = armColumns(identity);
    return (['leakage', 'coverage'] as const).map((family) => {
      const value = placed[family];
      const head = [...arm, 'all', undefined, undefined, `${family}_scaled`];
      if (!value.defined) return [...head, 'undefined', ...Array<CsvValue>(5).fill('undefined'), ...none, value.reason];
      const bounds = value.bounds ?? { low: 'undefined', high: 'undefined' };
      const { low, high } = value.interval;
      return [...head, value.value, low, high, undefined, bounds.low, bounds.high, ...none, undefined];
    });
  });
}

export const rollupCsv = (arms: readonly CiMetrics[]): string =>
  toCsv(csvColumns, [...arms.flatMap(armRows), ...scaleRows(arms)]);
