import {
  type Block,
  type Cell,
  code,
  type Document,
  details,
  heading,
  type Inline,
  list,
  paragraph,
  type Rich,
  table,
} from '../../report/document.ts';
import { countText, percent, plural } from '../../report/format.ts';
import {
  type ArmComparison,
  type CiComparison,
  type ComparedMetric,
  comparedMetrics,
  type Difference,
  type Flips,
  type SampleAt,
} from '../../schema/ci-comparison.ts';

const comparedNames: Record<ComparedMetric, string> = {
  'leakage.per_scenario': 'Leakage, per scenario',
  'leakage.overall': 'Leakage, overall',
  'leakage.adjusted': 'Leakage, of pairs helpful in both',
  'coverage.overall': 'Coverage, overall',
  'coverage.per_scenario': 'Coverage, per scenario',
  helpfulness: 'Helpfulness',
};

/** `+12.3`, `-0.4`, `0.0`: percentage points. What is not quite nothing never reads as nothing. */
export function pointsText(difference: number): string {
  if (difference === 0) return '0.0';
  const points = Math.abs(difference) * 100;
  return `${difference > 0 ? '+' : '-'}${points < 0.05 ? '<0.1' : points.toFixed(1)}`;
}

export const pointsRange = ({ low, high }: { low: number; high: number }): string =>
  `${pointsText(low)} to ${pointsText(high)}`;

/** Three decimals, and never 0. */
const pText = (p: number): string => (p < 0.001 ? '<0.001' : p.toFixed(3));

const openTotal = ({ open }: Difference): number => open.baseline + open.arm + open.both;

const titles = ['Judged in both', 'Baseline', 'This arm', 'Difference', 'Bounds', 'p', 'p, Holm', 'Left open'];

/** The cells of one difference, in the order of `titles`. */
function cellsOf(difference: Difference): (Cell | string)[] {
  const judged = countText(difference.judged);
  const open = countText(openTotal(difference));
  if (!difference.defined) return [judged, '', '', { text: 'undefined', detail: difference.reason }, '', '', '', open];
  const { value, baseline, arm, interval, bounds, p, p_holm, independent } = difference;
  const beside = independent && independent.p !== p ? { detail: `McNemar ${pText(independent.p)}` } : {};
  return [
    judged,
    percent(baseline),
    percent(arm),
    { text: pointsText(value), detail: pointsRange(interval) },
    pointsRange(bounds),
    { text: pText(p), ...beside },
    pText(p_holm),
    open,
  ];
}

const nameOf = ({ arm }: ArmComparison): Cell => ({
  text: code(arm.experiment),
  detail: `memory ${arm.memory}, agent ${arm.agent}`,
});

function metricTable(metric: ComparedMetric, comparisons: readonly ArmComparison[]): Block {
  return table(
    `${comparedNames[metric]}: difference in percentage points, arm minus baseline, with 95 % intervals`,
    [{ title: 'Arm' }, ...titles.map((title) => ({ title, align: 'right' as const }))],
    comparisons.map((comparison) => [nameOf(comparison), ...cellsOf(comparison.metrics[metric])]),
  );
}

function pairingTable(comparisons: readonly ArmComparison[]): Block {
  const columns = ['Pairs', 'Clusters', 'Baseline alone', 'Arm alone', 'Not the same sample', 'Failed in either'];
  return table(
    'How the records were paired, by sample and repeat',
    [{ title: 'Arm' }, ...columns.map((title) => ({ title, align: 'right' as const }))],
    comparisons.map((comparison) => {
      const { pairs, clusters, baseline_only, arm_only, different, failed } = comparison.pairing;
      const lost = failed.baseline + failed.arm + failed.both;
      return [nameOf(comparison), ...[pairs, clusters, baseline_only, arm_only, different.count, lost].map(countText)];
    }),
  );
}

const MAX_SHOWN = 100;

function sampleList(samples: readonly SampleAt[], count: number): Block[] {
  if (count === 0) return [];
  const shown = samples.slice(0, MAX_SHOWN);
  const names = shown.flatMap(({ sample_id, repeat }, i): Inline[] => {
    const name = code(repeat === 0 ? sample_id : `${sample_id} (repeat ${repeat})`);
    return i === 0 ? [name] : [', ', name];
  });
  const more = count > shown.length ? [` and ${countText(count - shown.length)} more.`] : [];
  return [paragraph(...names, ...more)];
}

function flipBlocks(title: string, words: readonly [string, string], { arm_only, baseline_only }: Flips): Block[] {
  return (
    [
      [words[0], arm_only],
      [words[1], baseline_only],
    ] as const
  ).flatMap(([word, { count, samples }]) =>
    count === 0 ? [] : [details(`${title}: ${word} ${plural(count, 'pair')}`, sampleList(samples, count))],
  );
}

function flipSection(comparisons: readonly ArmComparison[]): Block[] {
  return [
    heading(2, 'Samples whose outcome differs'),
    ...comparisons.flatMap(({ arm, flips }) => {
      const blocks = [
        ...flipBlocks('Leakage', ['leaks in the arm alone,', 'leaks in the baseline alone,'], flips.leakage),
        ...flipBlocks(
          'Helpfulness',
          ['helpful in the arm alone,', 'helpful in the baseline alone,'],
          flips.helpfulness,
        ),
      ];
      return [heading(3, code(arm.experiment)), ...(blocks.length > 0 ? blocks : [paragraph('None.')])];
    }),
  ];
}

const joined = (values: readonly (string | number)[]): string => [...values].sort().join(', ') || 'none';

/** What makes one comparison doubtful. */
function doubts({ baseline, arm, pairing }: ArmComparison): string[] {
  const lines: string[] = [];
  if (joined(baseline.primary) !== joined(arm.primary)) {
    lines.push(`other judges: ${joined(baseline.primary)} for the baseline, ${joined(arm.primary)} for the arm.`);
  }
  if (joined(baseline.helpfulness_thresholds) !== joined(arm.helpfulness_thresholds)) {
    lines.push('another threshold of helpfulness.');
  }
  const { different, baseline_only, arm_only, failed } = pairing;
  if (different.count > 0) {
    lines.push(
      `${plural(different.count, 'sample')} of the same name differ in task, facts or annotation, and are left out.`,
    );
  }
  if (baseline_only + arm_only > 0) {
    lines.push(
      `${countText(baseline_only)} in the baseline alone and ${countText(arm_only)} in the arm alone are left out.`,
    );
  }
  const lost = failed.baseline + failed.arm + failed.both;
  if (lost > 0) lines.push(`${plural(lost, 'pair')} failed on a side: the bounds say what that leaves open.`);
  return lines;
}

/** What a reader must know before the numbers. */
export function comparisonNotes({ kind, baseline, comparisons, not_compared }: CiComparison): Rich[] {
  const notes: Rich[] = [];
  if (kind === 'arms' && baseline?.chosen === 'first') {
    notes.push(['The baseline is the first arm by name, ', code(baseline.experiment), ', as none is named no_memory.']);
  }
  for (const comparison of comparisons) {
    for (const line of doubts(comparison)) notes.push([code(comparison.arm.experiment), `: ${line}`]);
  }
  for (const { run, experiment, reason } of not_compared) {
    notes.push(['Not compared: ', code(experiment), ' of ', code(run), `, ${reason}.`]);
  }
  return notes;
}

const howToRead: Rich[] = [
  'A difference is arm minus baseline on the same samples and repeats, over what both have a verdict for.',
  'The interval is what chance leaves open at 95 %; the bounds are what unjudged and failed pairs leave open, taken all one way and all the other.',
  'p is two-sided: exact McNemar for shares of pairs, flips of signs over clusters for the others. Where clusters hold several pairs, interval and test take clusters and not pairs for independent.',
  'p, Holm is adjusted over the arms of this comparison, for each metric by itself.',
  'The pairs that are helpful in both arms are not a sample drawn beforehand: the arms had a say in which they are.',
];

export function comparisonDocument(comparison: CiComparison): Document {
  const { kind, baseline, comparisons } = comparison;
  const notes = comparisonNotes(comparison);
  const first = comparisons[0];
  const subtitle =
    kind === 'arms'
      ? `${plural(comparisons.length, 'arm')} against ${baseline?.experiment ?? 'the baseline'}`
      : `${first?.arm.run ?? 'the second run'} against ${first?.baseline.run ?? 'the first'}`;
  return {
    title: 'Contextual Integrity: comparison',
    subtitle,
    blocks: [
      ...(notes.length > 0 ? [heading(2, 'Read this first'), list(notes)] : []),
      heading(2, 'Differences'),
      ...comparedMetrics.map((metric) => metricTable(metric, comparisons)),
      heading(2, 'Pairs'),
      pairingTable(comparisons),
      ...flipSection(comparisons),
      heading(2, 'How to read this'),
      list(howToRead),
    ],
  };
}

const lineTitles = ['arm', 'metric', 'judged', 'open', 'baseline', 'this arm', 'difference', '95 % interval', 'bounds'];

/** The same for a terminal: a header and one line for each arm and metric. */
export function comparisonLines({ comparisons }: CiComparison): string[][] {
  const rows = comparisons.flatMap(({ arm, metrics, flips }) =>
    comparedMetrics.map((metric) => {
      const difference = metrics[metric];
      const start = [arm.experiment, metric, countText(difference.judged), countText(openTotal(difference))];
      if (!difference.defined) return [...start, '', '', 'undefined', '', '', '', '', ''];
      const flip =
        metric === 'leakage.per_scenario' ? flips.leakage : metric === 'helpfulness' ? flips.helpfulness : undefined;
      return [
        ...start,
        percent(difference.baseline),
        percent(difference.arm),
        pointsText(difference.value),
        pointsRange(difference.interval),
        pointsRange(difference.bounds),
        pText(difference.p),
        pText(difference.p_holm),
        flip ? `${flip.arm_only.count}/${flip.baseline_only.count}` : '',
      ];
    }),
  );
  return [[...lineTitles, 'p', 'p (Holm)', 'up/down'], ...rows];
}

/** Why a difference has no value, for a terminal, where a table has no room for it. */
export function undefinedReasons({ comparisons }: CiComparison): string[] {
  return comparisons.flatMap(({ arm, metrics }) =>
    comparedMetrics.flatMap((metric) => {
      const difference = metrics[metric];
      return difference.defined ? [] : [`${arm.experiment}: ${metric} is undefined, as ${difference.reason}.`];
    }),
  );
}
