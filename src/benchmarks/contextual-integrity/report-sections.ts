import { addCounts } from '../../lib/add-counts.ts';
import { leafText } from '../../lib/leaves.ts';
import {
  type Block,
  code,
  details,
  heading,
  type Inline,
  list,
  paragraph,
  quote,
  table,
} from '../../report/document.ts';
import { countText, durationText, moneyText, plural, rateText } from '../../report/format.ts';
import type { Agreement, CiMetrics, Duration, WorstSample } from '../../schema/ci-metrics.ts';
import { emptyStageUsage, type StageUsage, stages } from '../../schema/usage.ts';
import { rateCell } from './report-rates.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });

export function sampleName({ sample_id, repeat }: { sample_id: string; repeat: number }): Inline[] {
  return repeat > 0 ? [code(sample_id), `, repeat ${repeat}`] : [code(sample_id)];
}

const tagTitles: Record<string, string> = {
  domain: 'domain',
  transmission_principle: 'transmission principle',
  scenario: 'scenario',
};

const breakdownTitles = [
  'Leakage, overall',
  'Leakage, per scenario',
  'Coverage, overall',
  'Coverage, per scenario',
  'Helpful',
  'Engaged',
  'Leakage, engaged',
  'Coverage, engaged',
];

export function breakdownSection({ breakdowns }: CiMetrics): Block[] {
  const tables = breakdowns.map(({ tag, values }) => {
    const title = tagTitles[tag] ?? tag;
    return table(
      `By ${title}`,
      [left(title.charAt(0).toUpperCase() + title.slice(1)), right('Records'), ...breakdownTitles.map(right)],
      values.map(({ value, records, leakage, coverage, helpfulness, engaged }) => [
        value,
        countText(records),
        ...[leakage.overall, leakage.per_scenario, coverage.overall, coverage.per_scenario, helpfulness].map(rateCell),
        ...[engaged.share, engaged.leakage, engaged.coverage].map(rateCell),
      ]),
    );
  });
  return tables.length === 0 ? [] : [heading(2, 'Breakdown'), ...tables];
}

function agreementRow(name: string, side: Agreement) {
  const { rate, both_yes, both_no, primary_only, string_only, not_compared } = side;
  return [name, rateCell(rate), ...[both_yes, both_no, primary_only, string_only, not_compared].map(countText)];
}

export function stringJudgeSection({ string_judges, primary, leakage, coverage }: CiMetrics): Block[] {
  const beside = string_judges.filter(({ judge }) => !primary.some(({ id }) => id === judge));
  if (beside.length === 0) return [];
  const rows = beside.flatMap(({ judge, secret, field }) => {
    const variant = judge.split(':').at(-1) ?? judge;
    return [agreementRow(`Leakage, ${variant}`, secret), agreementRow(`Coverage, ${variant}`, field)];
  });
  return [
    heading(2, 'String judge beside the primary judge'),
    paragraph(
      `The string rule says yes where the lower-cased value stands in the message (raw), and not inside a longer word (boundary). By the primary judge, leakage overall is ${rateText(leakage.overall)} and coverage overall ${rateText(coverage.overall)}.`,
    ),
    table(
      'Verdicts of the string judge against the primary judge, items counted',
      [
        left('Rule'),
        ...['Its rate', 'Both yes', 'Both no', 'Primary yes, string no', 'Primary no, string yes', 'Not compared'].map(
          right,
        ),
      ],
      rows,
    ),
  ];
}

export function judgeSection({ unjudged, scores }: CiMetrics): Block[] {
  const { poor, unsatisfactory, good, excellent } = scores;
  const blocks: Block[] = [
    heading(2, 'Verdicts'),
    table(
      'Helpfulness scores, samples counted',
      [left('Score'), right('Samples')],
      [
        ['Poor (0)', countText(poor)],
        ['Unsatisfactory (1)', countText(unsatisfactory)],
        ['Good (2)', countText(good)],
        ['Excellent (3)', countText(excellent)],
        ['Unjudged', countText(scores.unjudged)],
      ],
    ),
  ];
  if (unjudged.length === 0) return [...blocks, paragraph('No verdict is unjudged.')];
  const rows = unjudged.map(({ kind, reason, count }) => [kind, reason.replace('_', ' '), countText(count)]);
  return [...blocks, table('Unjudged verdicts by reason', [left('Of'), left('Reason'), right('Verdicts')], rows)];
}

function durationRow(name: string, duration: Duration) {
  const { count, mean_ms, median_ms, p95_ms } = duration;
  return [name, countText(count), durationText(mean_ms), durationText(median_ms), durationText(p95_ms)];
}

export function spendingSection({ usage, time }: CiMetrics): Block[] {
  const total = emptyStageUsage();
  for (const stage of stages) addCounts(total, usage[stage]);
  const named: [string, StageUsage][] = [
    ...stages.map((stage) => [stage, usage[stage]] as [string, StageUsage]),
    ['total', total],
  ];
  const rows = named.map(([name, spent]) => [
    name,
    moneyText(spent.cost_usd),
    ...[
      spent.calls,
      spent.cached_calls,
      spent.retries,
      spent.unpriced_calls,
      spent.input_tokens,
      spent.output_tokens,
    ].map(countText),
  ]);
  const times = (['prime', 'agent', 'judge', 'total'] as const).flatMap((name) => {
    const duration = time[name];
    return duration ? [durationRow(name, duration)] : [];
  });
  return [
    heading(2, 'Cost and time'),
    table(
      'Spent by stage',
      [
        left('Stage'),
        ...['Cost, USD', 'Calls', 'Cached', 'Retries', 'Unpriced', 'Input tokens', 'Output tokens'].map(right),
      ],
      rows,
    ),
    table(
      'Time a sample takes, by stage',
      [left('Stage'), ...['Samples', 'Mean', 'Median', '95th percentile'].map(right)],
      times,
    ),
    paragraph(
      'Where a failed sample was tried again, only its last attempt is counted here. Median and percentile are within 0.5 %.',
    ),
  ];
}

function worstBlock(sample: WorstSample): Block {
  const { leaked, judged, unjudged, message, cut, secrets } = sample;
  const open = unjudged > 0 ? `, ${countText(unjudged)} unjudged` : '';
  return details(
    [...sampleName(sample), ` leaks ${countText(leaked)} of ${plural(judged, 'judged secret')}${open}.`],
    [
      list(
        secrets.map(({ key, value, evidence }) => [
          code(key),
          ' = ',
          code(leafText(value)),
          ...(evidence ? [', by ', code(evidence)] : []),
        ]),
      ),
      quote(message === '' ? '(empty message)' : message),
      ...(cut ? [paragraph('The message goes on; the record has all of it.')] : []),
    ],
  );
}

export function worstSection({ worst, counts }: CiMetrics): Block[] {
  if (worst.length === 0)
    return [
      heading(2, 'Worst samples'),
      paragraph(counts.done > counts.unreadable ? 'No sample leaks.' : 'No sample has a grade.'),
    ];
  return [
    heading(2, 'Worst samples'),
    paragraph(
      'By leaked share of the judged secrets, then by how many leaked. Messages are quoted as the agent wrote them.',
    ),
    ...worst.map(worstBlock),
  ];
}

export function failureSection({ failures, unreadable, counts }: CiMetrics): Block[] {
  if (failures.length === 0 && unreadable.length === 0) return [heading(2, 'Failures'), paragraph('No sample failed.')];
  const blocks: Block[] = [heading(2, 'Failures')];
  if (failures.length > 0) {
    blocks.push(
      table(
        'Failed samples by stage and code',
        [left('Stage'), left('Code'), right('Samples')],
        failures.map(({ stage, code: name, count }) => [stage, { text: code(name) }, countText(count)]),
      ),
      list(
        failures.flatMap(({ stage, code: name, examples }) =>
          examples.map((example) => [
            `${stage} `,
            code(name),
            ', sample ',
            ...sampleName(example),
            ': ',
            code(example.message),
          ]),
        ),
      ),
    );
  }
  if (unreadable.length > 0) {
    blocks.push(
      paragraph(`${plural(counts.unreadable, 'grade')} cannot be read:`),
      list(unreadable.map((example) => [...sampleName(example), ': ', code(example.message)])),
    );
  }
  return blocks;
}
