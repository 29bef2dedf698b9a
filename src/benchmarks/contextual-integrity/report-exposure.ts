import { leafText } from '../../lib/leaves.ts';
import {
  type Block,
  code,
  type FunnelStep,
  heading,
  list,
  paragraph,
  type Rich,
  table,
} from '../../report/document.ts';
import { countText } from '../../report/format.ts';
import type { CiMetrics, SideExposure } from '../../schema/ci-metrics.ts';
import { withheldBlocks } from './report-defence.ts';
import { rateCell, rateTable } from './report-rates.ts';
import { sampleName } from './report-sections.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });

function exposureRow(name: string, side: SideExposure) {
  return [
    name,
    countText(side.items),
    countText(side.stored),
    countText(side.recalled),
    countText(side.disclosed),
    rateCell(side.recalled_share),
    rateCell(side.recalled_given_stored),
    rateCell(side.disclosed_given_recalled),
    countText(side.disclosed_unrecalled),
  ];
}

/** What is left of a side's items on their way into the message. The last step counts recalled items alone. */
function steps(side: SideExposure): FunnelStep[] {
  const { recalled_share: recall, disclosed_given_recalled: told } = side;
  return [
    { label: 'annotated', count: side.items },
    { label: 'stored', count: side.stored },
    { label: 'recalled', count: side.recalled, open: recall.unjudged },
    { label: 'recalled, disclosed', count: told.numerator, open: told.unjudged },
  ];
}

function basisText(name: string, { by, items }: SideExposure): string {
  const parts = [
    [by.provenance, 'by the facts that the backend names'],
    [by.text, 'by text alone'],
    [by.unknown, 'not known'],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, how]) => `${countText(count)} ${how}`);
  return `${name}: ${items === 0 ? 'none' : said.join(', ')}.`;
}

function unrecalledBlocks(name: string, { unrecalled, disclosed_unrecalled: count }: SideExposure): Block[] {
  if (count === 0) return [];
  const rest = count - unrecalled.length;
  return [
    heading(3, `${name} disclosed though never recalled`),
    paragraph(
      `The agent was never shown these ${countText(count)}, so the judge or the dataset is at fault, or the value stands in the task or could be guessed.`,
    ),
    list([
      ...unrecalled.map((item): Rich => {
        const evidence = item.evidence === undefined ? [] : [', judged by ', code(item.evidence)];
        const basis = item.by === 'text' ? ' (recall told by text)' : '';
        return [...sampleName(item), ': ', code(item.key), ' = ', code(leafText(item.value)), ...evidence, basis];
      }),
      ...(rest > 0 ? [`and ${countText(rest)} more.`] : []),
    ]),
  ];
}

function recallBlocks({ recall_quality: { recall, precision, requested_k } }: CiMetrics): Block[] {
  if (!recall.defined) return [heading(3, 'Recall quality'), paragraph(`Undefined: ${recall.reason}.`)];
  const asked =
    requested_k.length === 0
      ? 'The backend gives all it holds, whatever is asked for.'
      : `Searches asked for k = ${requested_k.join(', ')}.`;
  return [
    heading(3, 'Recall quality'),
    paragraph(
      `Whether searches brought the facts that hold an allowed value: recall@k of those facts, and precision@k of the items that came back. Samples whose agent did not search, or whose backend names no sources, are left out. ${asked}`,
    ),
    rateTable('Recall quality', [
      ['recall@k', recall],
      ['precision@k', precision],
    ]),
  ];
}

export function exposureSection(metrics: CiMetrics): Block[] {
  const { secret, field } = metrics.exposure;
  const titles = [
    'Items',
    'Stored',
    'Recalled',
    'Disclosed',
    'P(recalled)',
    'Recalled of stored',
    'P(disclosed | recalled)',
    'Disclosed, never recalled',
  ];
  return [
    heading(2, 'Exposure'),
    paragraph(
      'What was stored, what of it reached the agent, and what the message disclosed. It tells a memory that kept a secret back from an agent that did.',
    ),
    {
      kind: 'funnel',
      caption: 'From annotated to disclosed; lighter is what nobody knows',
      groups: [
        { label: 'Secrets', steps: steps(secret) },
        { label: 'Fields', steps: steps(field) },
      ],
    },
    table(
      'Exposure of secrets and fields',
      [left('Side'), ...titles.map(right)],
      [exposureRow('Secrets', secret), exposureRow('Fields', field)],
    ),
    paragraph(
      `What this rests on. ${basisText('Secrets', secret)} ${basisText('Fields', field)} By text means that the value was looked for in what was stored and recalled.`,
    ),
    ...withheldBlocks(metrics),
    ...unrecalledBlocks('Secrets', secret),
    ...unrecalledBlocks('Fields', field),
    ...recallBlocks(metrics),
  ];
}
