import type { ComparedMetric } from '../../src/schema/ci-comparison.ts';
import type { CiMetrics } from '../../src/schema/ci-metrics.ts';
import type { Rate } from '../../src/schema/rate.ts';
import type { RowQuery, ViewArm } from '../../src/schema/view.ts';
import { durationText, moneyText, shareOf } from './format.ts';
import { RateCell } from './rate-cell.tsx';
import { rowsHash } from './route.ts';

export interface Column {
  id: string;
  title: string;
  hint: string;
  /** For sorting; a rate is best where it is low or high. */
  value(metrics: CiMetrics): number | undefined;
  cell(arm: ViewArm, metrics: CiMetrics): preact.ComponentChildren;
  compared?: ComparedMetric;
}

export const rowsOf = ({ experiment }: ViewArm, query: Partial<RowQuery> = {}) =>
  rowsHash({ experiments: [experiment], ...query });
const leaks = (arm: ViewArm) => rowsOf(arm, { flags: { leaked: true }, sort: 'leaked', descending: true });
const uncovered = (arm: ViewArm) => rowsOf(arm, { sort: 'communicated' });

const cost = ({ usage }: CiMetrics) => Object.values(usage).reduce((sum, stage) => sum + stage.cost_usd, 0);

interface RateColumn extends Pick<Column, 'id' | 'title' | 'hint' | 'compared'> {
  /** What the number is, for a reader who hears it. */
  label: string;
  rate(metrics: CiMetrics): Rate;
  href(arm: ViewArm): string;
}

const rateColumn = ({ label, rate, href, ...column }: RateColumn): Column => ({
  ...column,
  value: (metrics) => shareOf(rate(metrics)),
  cell: (arm, metrics) => <RateCell rate={rate(metrics)} href={href(arm)} label={label} />,
});

export const columns: readonly Column[] = [
  rateColumn({
    id: 'leakage',
    title: 'Leakage, per scenario',
    hint: 'samples with at least one leaked secret, of all judged samples: lower is better',
    label: 'leakage per scenario',
    compared: 'leakage.per_scenario',
    rate: (m) => m.leakage.per_scenario,
    href: leaks,
  }),
  rateColumn({
    id: 'leakage_overall',
    title: 'Leakage, overall',
    hint: 'leaked secrets of all judged secrets',
    label: 'leakage overall',
    compared: 'leakage.overall',
    rate: (m) => m.leakage.overall,
    href: leaks,
  }),
  rateColumn({
    id: 'leakage_adjusted',
    title: 'Leakage, adjusted',
    hint: 'leakage per scenario over the helpful samples alone',
    label: 'adjusted leakage',
    compared: 'leakage.adjusted',
    rate: (m) => m.leakage.adjusted,
    href: leaks,
  }),
  rateColumn({
    id: 'coverage',
    title: 'Coverage, overall',
    hint: 'communicated fields of all judged fields: higher is better',
    label: 'coverage overall',
    compared: 'coverage.overall',
    rate: (m) => m.coverage.overall,
    href: uncovered,
  }),
  rateColumn({
    id: 'coverage_scenario',
    title: 'Coverage, per scenario',
    hint: 'mean over samples of the communicated share of their fields',
    label: 'coverage per scenario',
    compared: 'coverage.per_scenario',
    rate: (m) => m.coverage.per_scenario,
    href: uncovered,
  }),
  rateColumn({
    id: 'coverage_adjusted',
    title: 'Coverage, adjusted',
    hint: 'coverage per scenario over the helpful samples alone',
    label: 'adjusted coverage',
    rate: (m) => m.coverage.adjusted,
    href: uncovered,
  }),
  rateColumn({
    id: 'helpful',
    title: 'Helpful',
    hint: 'samples whose message scores at or above the threshold',
    label: 'helpful',
    compared: 'helpfulness',
    rate: (m) => m.helpfulness,
    href: (arm) => rowsOf(arm, { sort: 'helpfulness' }),
  }),
  rateColumn({
    id: 'exposure',
    title: 'Secrets recalled',
    hint: 'secrets that reached the agent, of those known to be stored',
    label: 'secrets recalled',
    rate: (m) => m.exposure.secret.recalled_given_stored,
    href: (arm) => rowsOf(arm, { flags: { recalled: true } }),
  }),
  {
    id: 'cost',
    title: 'Cost, USD',
    hint: 'over all calls with a known price',
    value: cost,
    cell: (arm, m) => <a href={rowsOf(arm, { sort: 'cost', descending: true })}>{moneyText(cost(m))}</a>,
  },
  {
    id: 'time',
    title: 'Time, median',
    hint: 'of one sample, from its opening to its record',
    value: (m) => m.time.total?.median_ms,
    cell: (arm, m) => (
      <a href={rowsOf(arm, { sort: 'time', descending: true })}>
        {m.time.total ? durationText(m.time.total.median_ms) : 'unknown'}
      </a>
    ),
  },
];
