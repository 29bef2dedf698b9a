import {
  type Block,
  type Cell,
  code,
  type Document,
  heading,
  list,
  type PlotPoint,
  paragraph,
  table,
} from '../../report/document.ts';
import { countText, plural, rateText } from '../../report/format.ts';
import type { CiMetrics, CiRates } from '../../schema/ci-metrics.ts';
import { LEFT_OUT_BY_FLAG } from './flags-report.ts';
import { engagedNames, metricNames } from './metric-names.ts';
import { defencePart, defencesSection } from './report-defence.ts';
import { HELPFUL_BY_RULE, howToRead, isByRule } from './report-notes.ts';
import { memorySection } from './report-pool.ts';
import { rateCell } from './report-rates.ts';
import { scaleSection } from './report-scale.ts';
import { isControl } from './scale.ts';

const right = (title: string) => ({ title, align: 'right' as const });
const titles = metricNames.map(([, , name]) => right(name));

/** Verdicts of the primary judge that are unjudged, of every kind. */
export const unjudgedVerdicts = ({ unjudged }: CiMetrics): number =>
  unjudged.reduce((sum, { count }) => sum + count, 0);

type SixRates = Pick<CiRates, 'leakage' | 'coverage'>;
const sixCells = (rates: SixRates): Cell[] => metricNames.map(([family, way]) => rateCell(rates[family][way]));

/** An arm's name, with what it is made of beneath. */
const armCell = (arm: CiMetrics): Cell => {
  const { experiment, agent, memory, backend } = arm.identity;
  const parts = [
    memory === backend ? `memory ${memory}` : `memory ${memory} on ${backend}`,
    `agent ${agent}`,
    ...defencePart(arm.identity),
  ];
  return { text: code(experiment), detail: [parts.join(', '), ...(isControl(arm) ? ['control'] : [])] };
};

function mainTable(arms: readonly CiMetrics[]): Block {
  return table(
    'One row for each memory backend, agent and defence, with 95 % intervals',
    [
      { title: 'Arm' },
      ...titles,
      right('Helpful'),
      ...engagedNames.map(([, title]) => right(title)),
      ...['Done', 'Failed', 'Unjudged verdicts'].map(right),
    ],
    arms.map((arm) => [
      armCell(arm),
      ...sixCells(arm),
      rateCell(arm.helpfulness),
      ...engagedNames.map(([key]) => rateCell(arm.engaged[key])),
      countText(arm.counts.done),
      countText(arm.counts.failed + arm.counts.unreadable),
      countText(unjudgedVerdicts(arm)),
    ]),
  );
}

const caption =
  'Each arm by coverage (right is better) and leakage (lower is better), per scenario, with 95 % intervals. Controls are hollow.';

function plot(arms: readonly CiMetrics[]): Block[] {
  const points = arms.flatMap(({ identity, coverage, leakage }): PlotPoint[] => {
    const x = coverage.per_scenario;
    const y = leakage.per_scenario;
    if (!x.defined || !y.defined) return [];
    return [
      {
        label: identity.experiment,
        ...(isControl({ identity }) ? { reference: true } : {}),
        x: { value: x.value, ...range(x.interval) },
        y: { value: y.value, ...range(y.interval) },
      },
    ];
  });
  if (points.length === 0) return [];
  return [{ kind: 'interval_plot', caption, x: 'coverage, per scenario', y: 'leakage, per scenario', points }];
}

const range = ({ low, high }: { low: number; high: number }) => ({ low, high });

/** What is missing from the tables, before them. */
function notes(arms: readonly CiMetrics[], empty: readonly string[]): Block[] {
  const lines = [];
  if (empty.length > 0)
    lines.push(['No record yet, so not in the tables: ', ...empty.flatMap((name) => [code(name), ' '])]);
  const incomplete = arms.filter((arm) => arm.counts.failed + arm.counts.unreadable + unjudgedVerdicts(arm) > 0);
  if (incomplete.length > 0)
    lines.push('Some samples failed or some verdicts are unjudged: read the bounds beside the rates.');
  const quiet = arms.filter((arm) => !isControl(arm) && arm.counts.empty_messages + arm.counts.refusals > 0);
  if (quiet.length > 0) {
    lines.push([
      'Some messages are empty or decline the task, and leak nothing for that: ',
      ...quiet.flatMap(({ identity, counts }) => [
        code(identity.experiment),
        ` ${countText(counts.empty_messages)} empty and ${plural(counts.refusals, 'refusal')} of ${countText(counts.done)}. `,
      ]),
    ]);
  }
  const covered = arms.filter(({ pool }) => pool.covered > 0);
  if (covered.length > 0) {
    lines.push([
      'Some searches asked for as many items as the memory held or more, so that it returned everything, as full_context does: ',
      ...covered.flatMap(({ identity, pool, counts }) => [
        code(identity.experiment),
        ` for ${countText(pool.covered)} of ${plural(counts.records, 'record')}. `,
      ]),
    ]);
  }
  const judges = new Set(arms.flatMap(({ primary }) => primary.map(({ id }) => id)));
  if (judges.size > 1) lines.push('The arms were graded by different judges: do not compare their rates.');
  const samples = new Set(arms.map(({ counts }) => counts.samples));
  if (samples.size > 1) lines.push('The arms have different numbers of samples: they are compared on different data.');
  return lines.length === 0 ? [] : [heading(2, 'Read this first'), list(lines)];
}

/** All arms of a run side by side: leakage three ways, coverage three ways, helpfulness. */
export function ciRollup(arms: readonly CiMetrics[], empty: readonly string[]): Document {
  const byRule = arms.some(isByRule);
  const flagged = arms.some(({ unflagged: { flagged: sides } }) => sides.secrets.any + sides.fields.any > 0);
  return {
    title: 'Contextual Integrity: rollup',
    subtitle: `${countText(arms.length)} ${arms.length === 1 ? 'arm' : 'arms'}`,
    blocks: [
      ...notes(arms, empty),
      heading(2, 'Metrics'),
      mainTable(arms),
      ...(byRule ? [paragraph(HELPFUL_BY_RULE)] : []),
      ...plot(arms),
      ...scaleSection(arms),
      ...memorySection(arms),
      ...defencesSection(arms),
      ...(flagged
        ? [
            heading(2, 'Without flagged items'),
            paragraph(LEFT_OUT_BY_FLAG),
            table(
              'The same over unflagged items',
              [{ title: 'Arm' }, ...titles],
              arms.map((arm) => [armCell(arm), ...sixCells(arm.unflagged)]),
            ),
          ]
        : []),
      heading(2, 'How to read this'),
      list(howToRead(byRule)),
    ],
  };
}

/** Arms as rows of a terminal table. `n` is the number of graded samples, repeats counted. */
export function summaryRows(arms: readonly CiMetrics[]) {
  return arms.map((arm) => ({
    arm: arm.identity.experiment,
    'leakage overall': rateText(arm.leakage.overall),
    'leakage per scenario': rateText(arm.leakage.per_scenario),
    'coverage overall': rateText(arm.coverage.overall),
    helpful: rateText(arm.helpfulness),
    engaged: rateText(arm.engaged.share),
    n: arm.counts.done - arm.counts.unreadable,
    failed: arm.counts.failed + arm.counts.unreadable,
    unjudged: unjudgedVerdicts(arm),
  }));
}
