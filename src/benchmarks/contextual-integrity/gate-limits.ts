import { HeamsError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { type ComparedMetric, comparedMetrics } from '../../schema/ci-comparison.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';
import { metricNames } from './metric-names.ts';

type Reader = (metrics: CiMetrics) => Rate | undefined;

const threeWays = metricNames.map(([family, way]) => [`${family}.${way}`, family, way] as const);

const engagedRates = ['share', 'leakage', 'coverage'] as const;

/** Every rate that a limit can be set on, by its name. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...threeWays.map(([name, family, way]) => [name, (metrics) => metrics[family][way]] as [string, Reader]),
  ['helpfulness', ({ helpfulness }) => helpfulness],
  ...engagedRates.map((rate) => [`engaged.${rate}`, ({ engaged }) => engaged[rate]] as [string, Reader]),
  ...threeWays.map(
    ([name, family, way]) => [`unflagged.${name}`, ({ unflagged }) => unflagged[family][way]] as [string, Reader],
  ),
  ['repeats.any_of_n', ({ repeats }) => repeats?.any_of_n],
  ['repeats.worst_of_n', ({ repeats }) => repeats?.worst_of_n],
]);

export const gateMetrics: readonly string[] = [...readers.keys()];

/** The rate of a name from `gateMetrics`; nothing where these metrics have none. */
export const rateNamed = (metrics: CiMetrics, name: string): Rate | undefined => readers.get(name)?.(metrics);

export interface Limit {
  metric: string;
  side: 'max' | 'min';
  /** In [0, 1]. */
  value: number;
}

export interface Margin {
  metric: ComparedMetric;
  /** How much worse it may be, in [0, 1]. */
  value: number;
}

function badLimit(option: string, text: string, expected: string, hint?: string): HeamsError {
  return new HeamsError(`${option}: this is no limit`, {
    code: 'gate_bad_limit',
    expected,
    found: JSON.stringify(text),
    ...(hint === undefined ? {} : { hint }),
  });
}

const SHARE = 'a share from 0 to 1';

/** A share, written as a plain decimal number. */
function share(option: string, text: string, whole: string): number {
  const number = /^\d*\.?\d+(e-?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
  throw badLimit(option, whole, SHARE, percent ? `${text} is written ${Number(percent[1]) / 100}` : undefined);
}

function known<N extends string>(option: string, name: string, names: readonly N[]): N {
  if ((names as readonly string[]).includes(name)) return name as N;
  const meant = nearest(name, names);
  throw new HeamsError(`${option}: unknown metric "${name}"`, {
    code: 'gate_unknown_metric',
    expected: `one of: ${names.join(', ')}`,
    found: name,
    ...(meant === undefined ? {} : { hint: `did you mean "${meant}"?` }),
  });
}

/** `leakage.adjusted=0.05` */
function nameAndShare<N extends string>(option: string, text: string, names: readonly N[]) {
  const at = text.indexOf('=');
  if (at < 0) throw badLimit(option, text, `<metric>=<${SHARE}>, as in ${names[0]}=0.05`);
  const metric = known(option, text.slice(0, at).trim(), names);
  return { metric, value: share(option, text.slice(at + 1).trim(), text) };
}

/** Limits of `--max` and `--min`. Throws on an unknown metric, on what is no share, and on two limits of one kind. */
export function parseLimits(side: Limit['side'], texts: readonly string[]): Limit[] {
  const limits = texts.map((text): Limit => ({ side, ...nameAndShare(`--${side}`, text, gateMetrics) }));
  for (const [i, { metric }] of limits.entries()) {
    if (limits.findIndex((limit) => limit.metric === metric) !== i) {
      throw badLimit(`--${side}`, texts[i] as string, `one limit for ${metric}`);
    }
  }
  return limits;
}

/**
 * Margins of `--no-worse-than`. `metric=0.02` is for that metric; `0.02` alone is for the metrics that have a limit, or
 * for all that can be compared where none has.
 */
export function parseMargins(texts: readonly string[], limits: readonly Limit[]): Margin[] {
  const option = '--no-worse-than';
  const margins = new Map<ComparedMetric, number>();
  for (const text of texts.filter((each) => !each.includes('='))) {
    const value = share(option, text.trim(), text);
    const limited = [...new Set(limits.map(({ metric }) => metric))];
    const uncompared = limited.find((name) => !(comparedMetrics as readonly string[]).includes(name));
    if (uncompared !== undefined) {
      throw badLimit(
        option,
        text,
        `<metric>=<margin>, as ${uncompared} has a limit and cannot be compared between runs`,
        `name the metrics: ${comparedMetrics.join(', ')}`,
      );
    }
    for (const name of limited.length > 0 ? limited : comparedMetrics) margins.set(name as ComparedMetric, value);
  }
  for (const text of texts.filter((each) => each.includes('='))) {
    const { metric, value } = nameAndShare(option, text, comparedMetrics);
    margins.set(metric, value);
  }
  return [...margins].map(([metric, value]) => ({ metric, value }));
}
