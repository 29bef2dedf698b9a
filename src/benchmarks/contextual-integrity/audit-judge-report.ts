import {
  type Block,
  type Cell,
  code,
  type Document,
  details,
  heading,
  list,
  paragraph,
  quote,
  type Rich,
  table,
} from '../../report/document.ts';
import { countText, percent, percentRange, plural, rateText } from '../../report/format.ts';
import {
  type Correction,
  type InjectionKind,
  injectionBases,
  type JudgeAudit,
  type Misjudged,
  type SideResult,
} from '../../schema/judge-audit.ts';
import type { Rate } from '../../schema/rate.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });
const sideNames = { secret: 'Leakage (secrets)', field: 'Coverage (fields)' } as const;
/** As many misjudged messages as are shown in full. */
const SHOWN = 20;

const spoken = (name: string): string => name.replaceAll('_', ' ');

function rateCells(rate: Rate): (Cell | string)[] {
  const { numerator, denominator, unjudged, failed } = rate;
  const value: Cell | string = rate.defined ? rateText(rate) : { text: 'undefined', detail: rate.reason };
  return [
    value,
    rate.defined ? percentRange(rate.interval) : '',
    rate.defined ? percentRange(rate.bounds) : '',
    `${countText(numerator)} / ${countText(denominator)}`,
    countText(unjudged),
    countText(failed),
  ];
}
const rateColumns = ['Value', '95 % interval', 'Bounds', 'Counted', 'Unjudged', 'Failed'].map(right);

function kindTable({ side, sensitivity, specificity, kinds }: SideResult): Block {
  return table(
    `${sideNames[side]}: what the judge gets right. Sensitivity and specificity hold for this mix of messages`,
    [left('Messages'), left('Truth'), ...rateColumns],
    [
      ['all whose truth is yes: sensitivity', 'yes', ...rateCells(sensitivity)],
      ['all whose truth is no: specificity', 'no', ...rateCells(specificity)],
      ...kinds.map(({ kind, truth, correct }) => [spoken(kind), truth ? 'yes' : 'no', ...rateCells(correct)]),
    ],
  );
}

/** A rate with its interval and what is open, in one cell. */
function shortCell(rate: Rate): Cell | string {
  if (!rate.defined) return { text: 'undefined', detail: rate.reason };
  const open = rate.unjudged + rate.failed;
  const more = open > 0 ? `, ${countText(open)} open` : '';
  return {
    text: percent(rate.value),
    detail: `${percentRange(rate.interval)} of ${countText(rate.denominator)}${more}`,
  };
}

function injectionTable({ side, injections, injected }: SideResult): Block[] {
  if (injections.length === 0) return [];
  const kinds = [...new Set(injections.map(({ injection }) => injection))];
  const cells = (kind: InjectionKind) =>
    injectionBases.flatMap((base): (Cell | string)[] => {
      const found = injections.find((one) => one.injection === kind && one.base === base);
      return found ? [shortCell(found.changed), shortCell(found.worked)] : ['none', 'none'];
    });
  const { changed, worked } = injected;
  return [
    table(
      `${sideNames[side]}: verdicts that an injection changed, against the same message without it`,
      [
        left('Injection'),
        ...['Item there: changed', 'as asked for', 'Item absent: changed', 'as asked for'].map(right),
      ],
      kinds.map((kind) => [spoken(kind), ...cells(kind)]),
    ),
    paragraph(
      `Over all injections ${rateSentence(changed)} of the verdicts changed, and ${rateSentence(worked)} became what the injection asks for.`,
    ),
  ];
}

const rateSentence = (rate: Rate): string =>
  rate.defined
    ? `${percent(rate.value)} (${percentRange(rate.interval)}; ${countText(rate.numerator)} of ${countText(rate.denominator)})`
    : `an undefined share (${rate.reason})`;

function correctionRow({ experiment, side, apparent, corrected }: Correction): (Cell | string)[] {
  const text: Cell | string = corrected.defined
    ? {
        text: percent(corrected.value),
        detail: `${percentRange(corrected)}${corrected.clipped ? '; cut at the end of the scale' : ''}`,
      }
    : { text: 'undefined', detail: corrected.reason };
  return [
    experiment === undefined ? 'all experiments' : { text: code(experiment) },
    side === 'secret' ? 'leakage, overall' : 'coverage, overall',
    shortCell(apparent),
    text,
  ];
}

function correctionSection({ corrections }: JudgeAudit): Block[] {
  if (corrections.length === 0) return [];
  const judges = [...new Set(corrections.map(({ judge }) => judge))];
  return [
    heading(2, 'The run, corrected for the judge’s errors'),
    paragraph(
      'Rogan and Gladen’s estimate: (rate + specificity − 1) / (sensitivity + specificity − 1), with the interval of Lang and Reiczigel, which takes in that sensitivity and specificity are estimates too. It holds as far as the run’s messages are as hard for the judge as the audit’s, and with rates over items alone: a scenario is several questions.',
    ),
    ...judges.map((judge) =>
      table(
        `Corrected rates by ${judge}`,
        [left('Experiment'), left('Rate'), right('As judged'), right('Corrected')],
        corrections.filter((one) => one.judge === judge).map(correctionRow),
      ),
    ),
  ];
}

function misjudgedBlock({ judge, sample_id, side, key, kind, injection, truth, message, reasoning }: Misjudged): Block {
  const what = `${spoken(kind)}${injection === undefined ? '' : ` with injection "${spoken(injection)}"`}`;
  const summary: Rich = [
    code(judge),
    ` says ${truth ? 'no' : 'yes'} where the truth is ${truth ? 'yes' : 'no'}: ${side} `,
    code(key),
    ' of ',
    code(sample_id),
    `, ${what}.`,
  ];
  const because = reasoning === undefined ? [] : [paragraph('The judge’s reasoning:'), quote(reasoning)];
  return details(summary, [quote(message), ...because]);
}

function misjudgedSection({ misjudged }: JudgeAudit): Block[] {
  if (misjudged.length === 0) return [heading(2, 'Misjudged messages'), paragraph('None.')];
  return [
    heading(2, 'Misjudged messages'),
    paragraph(
      `${plural(misjudged.length, 'message')} in judge_audit.json, at most 100 of them all; the first ${Math.min(SHOWN, misjudged.length)} here.`,
    ),
    ...misjudged.slice(0, SHOWN).map(misjudgedBlock),
  ];
}

const notes: readonly Rich[] = [
  'The truth of each message is known because HEAMS made it: a short e-mail into which one value of a scenario was put, or was not. docs/auditing-judges.md defines each kind and its truth.',
  'Sensitivity and specificity pool the kinds with equal weight. A judge that fails on encoded text alone may be good enough for messages that hold none: read the kinds.',
  'Unjudged and failed verdicts are in no rate; the bounds take them both ways.',
  'An injection asks for the wrong verdict. “Changed” counts every verdict that differs from the one about the same message without it, “as asked for” those that differ in the direction that it asks for.',
  'Messages of an audit are simpler than an agent’s. A judge that does well here may still miss a paraphrase; human labels tell (heams judge labels).',
];

/** The report of a judge audit. */
export function judgeAuditDocument(audit: JudgeAudit): Document {
  const { judges, results, failures, samples, messages, seed } = audit;
  return {
    title: `Judge audit: ${judges[0]?.id ?? ''}`,
    subtitle: `${plural(messages, 'message')} from ${plural(samples, 'scenario')} of ${audit.benchmark}, seed ${seed}`,
    blocks: [
      ...(failures.length === 0
        ? []
        : [
            heading(2, 'Read this first'),
            list(
              failures.map(
                ({ judge, code: name, message, count }): Rich => [
                  `${plural(count, 'message')} could not be judged by `,
                  code(judge),
                  ': ',
                  code(`${name}: ${message}`),
                ],
              ),
            ),
          ]),
      ...results.flatMap(({ judge, sides }) => [
        heading(2, [code(judge)]),
        ...sides.flatMap((side) => [kindTable(side), ...injectionTable(side)]),
      ]),
      ...correctionSection(audit),
      ...misjudgedSection(audit),
      heading(2, 'How to read this'),
      list(notes),
    ],
  };
}
