import { leafText } from '../../lib/leaves.ts';
import { familyPairs } from '../../models/model-family.ts';
import { type Block, code, heading, type Inline, list, paragraph, type Rich, table } from '../../report/document.ts';
import { countText, percent, plural } from '../../report/format.ts';
import type { AgreementCoefficient } from '../../schema/agreement.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import { type Panel, panelSides } from '../../schema/ci-panel.ts';
import { majorityMembers, panelJudges } from './judge-majority.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });
const sideNames = { secret: 'Leakage', field: 'Coverage', helpful: 'Helpful' } as const;

/** A coefficient with its interval; `undefined` with the reason. */
export function coefficientCell(coefficient: AgreementCoefficient) {
  if (!coefficient.defined) return { text: 'undefined', detail: coefficient.reason };
  const { value, low, high } = coefficient;
  return { text: value.toFixed(2), detail: `${low.toFixed(2)} to ${high.toFixed(2)}` };
}

function pairTable({ pairs }: Panel): Block {
  const rows = pairs.flatMap(({ first, second, ...sides }) =>
    panelSides.map((side) => {
      const { both_yes, both_no, first_only, second_only, not_compared, kappa } = sides[side];
      const compared = both_yes + both_no + first_only + second_only;
      const agreed = compared === 0 ? 'undefined' : percent((both_yes + both_no) / compared);
      return [
        { text: [code(first), ' and ', code(second)] as readonly Inline[] },
        sideNames[side],
        agreed,
        coefficientCell(kappa),
        ...[both_yes, both_no, first_only, second_only, not_compared].map(countText),
      ];
    }),
  );
  return table(
    'Judge models in pairs, items counted',
    [
      left('Judges'),
      left('About'),
      ...['Agree', 'Kappa', 'Both yes', 'Both no', 'First alone yes', 'Second alone yes', 'Not compared'].map(right),
    ],
    rows,
  );
}

function panelTable({ alpha, majority, disputed }: Panel): Block {
  return table(
    'The panel as a whole',
    [left('About'), ...['Alpha', 'Majority yes', 'Majority no', 'Tie', 'Too few judged', 'Disputed'].map(right)],
    panelSides.map((side) => {
      const { yes, no, tie, too_few } = majority[side];
      return [sideNames[side], coefficientCell(alpha[side]), ...[yes, no, tie, too_few, disputed[side]].map(countText)];
    }),
  );
}

function disputedList({ disputed }: Panel): Block[] {
  const count = disputed.secret + disputed.field + disputed.helpful;
  if (count === 0) return [paragraph('No two judge models say different things about an item.')];
  const first = disputed.listed.length < count ? ` The first ${disputed.listed.length}:` : '';
  return [
    heading(3, 'Disputed items'),
    paragraph(`About ${plural(count, 'item')} two judge models say different things. Read these first.${first}`),
    list(
      disputed.listed.map(({ sample_id, repeat, side, key, value, votes }) => {
        const item: Inline[] =
          key === undefined || value === undefined
            ? ['helpful']
            : [`${side} `, code(key), ' = ', code(leafText(value))];
        const said = votes.flatMap(({ judge, says }, i): Inline[] => [i === 0 ? ': ' : ', ', code(judge), ` ${says}`]);
        return [code(sample_id), repeat > 0 ? `, repeat ${repeat}, ` : ', ', ...item, ...said];
      }),
    ),
  ];
}

/** How several judge models agree; nothing where one alone has judged. */
export function panelSection({ panel, judges, primary }: Pick<CiMetrics, 'panel' | 'judges' | 'primary'>): Block[] {
  if (!panel) return [];
  // Of judges that are no members of one majority it is not known whether they had the same prompts.
  const members = majorityMembers(judges);
  const how = panel.judges.every((id) => members.includes(id)) ? ' with the same prompts' : '';
  const decides = primary.some(({ type }) => type === 'majority')
    ? 'The metrics rest on their majority.'
    : 'The metrics rest on the primary judge; the majority is computed beside it.';
  return [
    heading(2, 'Several judge models'),
    paragraph(
      `${plural(panel.judges.length, 'judge model')} graded the same messages${how}. ${decides} A majority is more than half of all judges; where a missing verdict would have decided, or votes are even, the majority is unjudged.`,
    ),
    panelTable(panel),
    pairTable(panel),
    paragraph(
      'Kappa (Cohen) and alpha (Krippendorff) are agreement beyond chance: 1 is perfect, 0 is what chance gives. Judges that agree may still be wrong together, the more so if they are of one model family.',
    ),
    ...disputedList(panel),
  ];
}

/**
 * A warning for each model of the agent that shares its family with a judge that the metrics rest on. The agent's
 * models are known by what their servers call them.
 */
export function familyNotes({ identity, judges, primary }: Pick<CiMetrics, 'identity' | 'judges' | 'primary'>): Rich[] {
  const byMajority = primary.some(({ type }) => type === 'majority');
  const voting = byMajority ? panelJudges(judges) : [];
  const deciding = byMajority ? judges.filter(({ id }) => voting.includes(id)) : primary;
  const models = deciding.flatMap(({ type, model_id }) => (type === 'ci_llm_judge' && model_id ? [model_id] : []));
  return familyPairs(identity.agent_models, models).map(({ agent, judge, family }) => [
    `Agent and judge are of one model family (${family}): `,
    code(agent),
    ' is judged by ',
    code(judge),
    '. A judge tends to favour what a model like itself wrote. Have a judge of another family grade the run as well, or compare with human labels.',
  ]);
}
