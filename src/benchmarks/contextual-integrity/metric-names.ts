import type { CiRates } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';

/** The rates of leakage and coverage in the order of every table, with what each is called. */
export const metricNames = [
  ['leakage', 'overall', 'Leakage, overall'],
  ['leakage', 'per_scenario', 'Leakage, per scenario'],
  ['leakage', 'adjusted', 'Leakage, adjusted'],
  ['coverage', 'overall', 'Coverage, overall'],
  ['coverage', 'per_scenario', 'Coverage, per scenario'],
  ['coverage', 'adjusted', 'Coverage, adjusted'],
] as const;

/** What the rates of engaged samples are called. */
export const engagedNames = [
  ['share', 'Engaged'],
  ['leakage', 'Leakage, per scenario, engaged'],
  ['coverage', 'Coverage, per scenario, engaged'],
] as const;

export type SomeRates = Pick<CiRates, 'leakage' | 'coverage'> & Partial<Pick<CiRates, 'helpfulness' | 'engaged'>>;

export interface MetricRate {
  /** As files and options name it: `leakage.per_scenario`. */
  key: string;
  rate: Rate;
}

/** Every rate there is, in order. */
export function metricRates({ helpfulness, engaged, ...rates }: SomeRates): MetricRate[] {
  const named: MetricRate[] = metricNames.map(([family, way]) => ({
    key: `${family}.${way}`,
    rate: rates[family][way],
  }));
  if (helpfulness) named.push({ key: 'helpfulness', rate: helpfulness });
  if (!engaged) return named;
  return [...named, ...engagedNames.map(([key]) => ({ key: `engaged.${key}`, rate: engaged[key] }))];
}

const titles = new Map<string, string>([
  ...metricNames.map(([family, way, title]) => [`${family}.${way}`, title] as const),
  ['helpfulness', 'Helpfulness'],
  ...engagedNames.map(([key, title]) => [`engaged.${key}`, title] as const),
]);

/** What a table calls the metric of a key. */
export const metricTitle = (key: string): string => titles.get(key) ?? key;

/** Every rate with its title, for a table. */
export const namedRates = (rates: SomeRates): [title: string, rate: Rate][] =>
  metricRates(rates).map(({ key, rate }) => [metricTitle(key), rate]);
