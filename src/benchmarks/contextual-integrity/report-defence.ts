import { type Block, type Cell, code, heading, paragraph, type Rich, table } from '../../report/document.ts';
import { countText, moneyText, plural } from '../../report/format.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import { type NamedRate, rateCell, rateTable } from './report-rates.ts';

type Identity = CiMetrics['identity'];

/** An arm's defence for a reader: its name, and its kind where that is another. */
export function defenceText({ defence, defence_kind: kind }: Identity): Rich {
  if (defence === undefined) return 'none';
  return [code(defence), ...(kind === undefined || kind === defence ? [] : [' (kind ', code(kind), ')'])];
}

/** The same as a part of a line; nothing for an arm without a defence. */
export const defencePart = ({ defence, defence_kind: kind }: Identity): string[] =>
  defence === undefined
    ? []
    : [kind === undefined || kind === defence ? `defence ${defence}` : `defence ${defence} (${kind})`];

/** What of an arm's secrets a defence kept from the agent; nothing where it kept nothing. */
export function withheldBlocks({ exposure: { secret, field } }: CiMetrics): Block[] {
  if (secret.withheld + field.withheld === 0) return [];
  return [
    paragraph(
      `Withheld by the defence: ${countText(secret.withheld)} of ${countText(secret.items)} secrets and ${countText(field.withheld)} of ${countText(field.items)} fields were found by the memory and did not reach the agent. They count as not recalled.`,
    ),
  ];
}

const names = { reasoning: 'in the reasoning', draft: 'in the draft' } as const;

/** Secrets in text that was not sent, as rows of a table. */
export const unsentRows = ({ unsent = {} }: Pick<CiMetrics, 'unsent'>): NamedRate[] =>
  (['reasoning', 'draft'] as const).flatMap((place): NamedRate[] => {
    const rates = unsent[place];
    if (!rates) return [];
    return [
      [`Leaks ${names[place]}, overall`, rates.overall],
      [`Leaks ${names[place]}, per scenario`, rates.per_scenario],
    ];
  });

export function unsentSection(metrics: CiMetrics): Block[] {
  const rows = unsentRows(metrics);
  if (rows.length === 0) return [];
  return [
    heading(2, 'In what was not sent'),
    paragraph(
      'Secrets in what the agent thought before it answered, and in its own message where a defence may have changed it before it was sent. Told by the boundary-aware string rule alone, over the samples that have such a text. They are in no other rate of this report: nobody was sent them, but whoever can read the reasoning or the log can.',
    ),
    rateTable('Secrets in what was not sent', rows),
  ];
}

const right = (title: string) => ({ title, align: 'right' as const });
const NONE = '–';

/** What each defence kept from its agent, what was left in the text that was not sent, and what it spent. */
export function defencesSection(arms: readonly CiMetrics[]): Block[] {
  const shown = arms.filter(({ identity, unsent }) => identity.defence !== undefined || unsent !== undefined);
  if (shown.length === 0) return [];
  const rateOr = (metrics: CiMetrics, place: 'reasoning' | 'draft'): string | Cell => {
    const rates = metrics.unsent?.[place];
    return rates ? rateCell(rates.per_scenario) : NONE;
  };
  return [
    heading(2, 'What the defences did'),
    paragraph(
      'Withheld: found by the memory and kept from the agent. Leaks in the reasoning and in the draft: samples with a secret in what the agent thought, or in its message before the defence, by the boundary-aware string rule; they are no part of leakage.',
    ),
    table(
      'Defences, with 95 % intervals',
      [
        { title: 'Arm' },
        { title: 'Defence' },
        ...['Secrets withheld', 'Fields withheld', 'Leaks in the reasoning', 'Leaks in the draft'].map(right),
        ...['Defence calls', 'Defence cost, USD'].map(right),
      ],
      shown.map((metrics): (string | Cell)[] => {
        const { identity, exposure, usage } = metrics;
        const unpriced = usage.defence.unpriced_calls;
        return [
          { text: code(identity.experiment) },
          { text: defenceText(identity) },
          `${countText(exposure.secret.withheld)} of ${countText(exposure.secret.items)}`,
          `${countText(exposure.field.withheld)} of ${countText(exposure.field.items)}`,
          rateOr(metrics, 'reasoning'),
          rateOr(metrics, 'draft'),
          countText(usage.defence.calls),
          unpriced > 0
            ? { text: moneyText(usage.defence.cost_usd), detail: [`${plural(unpriced, 'call')} without a price`] }
            : moneyText(usage.defence.cost_usd),
        ];
      }),
    ),
  ];
}
