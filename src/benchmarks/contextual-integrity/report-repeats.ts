import { type Block, type Cell, heading, paragraph, table } from '../../report/document.ts';
import { countText, percent, percentRange, plural } from '../../report/format.ts';
import type { CiMetrics, Repeats, Spread } from '../../schema/ci-metrics.ts';
import { metricTitle } from './metric-names.ts';
import { rateCell, rateTable } from './report-rates.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });

function spreadRow(spread: Spread): (Cell | string)[] {
  const name = metricTitle(spread.metric);
  const repeats = countText(spread.repeats);
  if (!spread.defined) {
    return [name, repeats, { text: 'undefined', detail: spread.reason }, ...Array<string>(4).fill('undefined')];
  }
  const { mean, sd, min, max, bounds } = spread;
  return [
    name,
    repeats,
    percent(mean),
    percentRange(bounds),
    `${(sd * 100).toFixed(2)} points`,
    percent(min),
    percent(max),
  ];
}

function eachTable({ each }: Repeats): Block {
  return table(
    'Each repeat by itself',
    [
      left('Repeat'),
      ...['Records', 'Leakage, per scenario', 'Coverage, per scenario', 'Helpful', 'Engaged'].map(right),
    ],
    each.map(({ repeat, records, leakage, coverage, helpfulness, engaged }) => [
      String(repeat),
      countText(records),
      rateCell(leakage.per_scenario),
      rateCell(coverage.per_scenario),
      rateCell(helpfulness),
      rateCell(engaged.share),
    ]),
  );
}

/** What several runs of the same samples say; nothing where each ran once. */
export function repeatsSection({ repeats }: CiMetrics): Block[] {
  if (!repeats) return [];
  const { n, incomplete, any_of_n, worst_of_n, flips, cumulative } = repeats;
  const missing =
    incomplete > 0
      ? ` ${plural(incomplete, 'sample')} ${incomplete === 1 ? 'has' : 'have'} fewer than ${n} graded repeats: what is missing counts as open.`
      : '';
  return [
    heading(2, 'Repeats'),
    paragraph(
      `Samples ran up to ${countText(n)} times.${missing} A sample counts below as soon as its value is settled, however its open repeats turn out; the bounds take all of them both ways.`,
    ),
    table(
      'Mean and spread over repeats',
      [
        left('Metric'),
        ...['Repeats with a value', 'Mean', 'Bounds of the mean', 'Standard deviation', 'Lowest', 'Highest'].map(right),
      ],
      repeats.spread.map(spreadRow),
    ),
    rateTable('Over the repeats of each sample', [
      [`Leaks in any of ${n} repeats`, any_of_n],
      [`Leaked share of secrets, worst of ${n}`, worst_of_n],
      ['Leakage flips between repeats', flips.leakage],
      ['Helpfulness flips between repeats', flips.helpfulness],
    ]),
    rateTable(
      'Cumulative leakage: the chance that a sample leaks in at least one of k tries',
      cumulative.map(({ k, rate }) => [`k = ${k}`, rate]),
    ),
    eachTable(repeats),
  ];
}
