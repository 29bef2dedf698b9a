import { type Block, code, type Document, heading, list, paragraph, type Rich, table } from '../../report/document.ts';
import { countText, percent, percentRange, plural } from '../../report/format.ts';
import type { LabelAgreement, SideAgreement } from '../../schema/label-agreement.ts';
import type { Rate } from '../../schema/rate.ts';
import { coefficientCell } from './report-judges.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });
const titles = { secret: 'Leakage (secrets)', field: 'Coverage (fields)', helpfulness: 'Helpfulness' } as const;
/** As many disagreements as a report lists; the JSON file has all. */
const MAX_LISTED = 200;

const shareCell = (rate: Rate) =>
  rate.defined
    ? { text: percent(rate.value), detail: `${percentRange(rate.interval)} of ${countText(rate.denominator)}` }
    : { text: 'undefined', detail: rate.reason };

function sideBlocks({ side, labels, items, no_consensus, judges, raters }: SideAgreement): Block[] {
  const cells = labels.flatMap((human) => labels.map((judge) => `people ${human}, judge ${judge}`));
  const split =
    no_consensus > 0 ? ` On ${plural(no_consensus, 'item')} no label has a majority; those are left out.` : '';
  const blocks: Block[] = [
    heading(2, titles[side]),
    paragraph(`${plural(items, 'item')} with a label.${split}`),
    table(
      `${titles[side]}: judges against people`,
      [left('Judge'), ...['Agree', 'Kappa', 'Alpha', ...cells, 'Unjudged', 'Missing'].map(right)],
      judges.map(({ judge, confusion, agreement, kappa, alpha, unjudged, missing }) => [
        { text: code(judge) },
        shareCell(agreement),
        coefficientCell(kappa),
        coefficientCell(alpha),
        ...confusion.flat().map(countText),
        countText(unjudged),
        countText(missing),
      ]),
    ),
  ];
  if (!raters) return blocks;
  return [
    ...blocks,
    paragraph(
      'Between people, alpha is ',
      raters.alpha.defined
        ? `${raters.alpha.value.toFixed(2)} (${raters.alpha.low.toFixed(2)} to ${raters.alpha.high.toFixed(2)}).`
        : `undefined: ${raters.alpha.reason}.`,
      ' A judge can hardly agree with people better than they agree with each other.',
    ),
    table(
      `${titles[side]}: raters in pairs`,
      [left('Raters'), right('Kappa'), right('Items')],
      raters.pairs.map(({ first, second, kappa }) => [
        { text: [code(first), ' and ', code(second)] },
        coefficientCell(kappa),
        countText(kappa.items),
      ]),
    ),
  ];
}

function disagreementBlocks({ disagreements }: LabelAgreement): Block[] {
  if (disagreements.length === 0) return [heading(2, 'Disagreements'), paragraph('None.')];
  const listed = disagreements.slice(0, MAX_LISTED);
  const more = listed.length < disagreements.length ? ` The first ${listed.length}:` : '';
  return [
    heading(2, 'Disagreements'),
    paragraph(`On ${plural(disagreements.length, 'item')} a judge and people say different things.${more}`),
    list(
      listed.map(
        ({ judge, experiment, sample_id, repeat, item, people, judge_says }): Rich => [
          code(`${experiment}/${sample_id}/${repeat}`),
          ', ',
          code(item),
          `: people say ${people}, `,
          code(judge),
          ` says ${judge_says}.`,
        ],
      ),
    ),
  ];
}

const notes: readonly Rich[] = [
  'Agree is the share of compared items on which judge and people say the same, with Wilson’s interval. It is high by chance alone where one label is rare.',
  'Kappa (Cohen, 1960) is agreement beyond what the two margins give by chance, with the interval of Fleiss, Cohen and Everitt (1969). Alpha (Krippendorff) is the same idea with pooled margins, with a bootstrap interval over clusters of samples. 1 is perfect, 0 is chance. All labels count as names: a 2 for a 3 is as wrong as a 0 for a 3.',
  'Missing: the sample failed, its grade cannot be read, or the judge is not among its judges. Unjudged and missing are in no rate.',
  'Where several people label an item, their label is the one that more than half of them give. “unsure” counts as no label.',
];

/** The report of a comparison with human labels. */
export function labelDocument(agreement: LabelAgreement): Document {
  const { labels, unsure, records, raters, sides } = agreement;
  return {
    title: 'Judges against human labels',
    subtitle: `${plural(labels, 'label')} (${countText(unsure)} unsure) of ${plural(raters.length, 'rater')} in ${plural(records, 'record')}`,
    blocks: [
      ...sides.flatMap(sideBlocks),
      ...disagreementBlocks(agreement),
      heading(2, 'How to read this'),
      list(notes),
    ],
  };
}
