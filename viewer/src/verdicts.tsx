import type { ItemVerdict, JudgeInfo, ScoreVerdict } from '../../src/schema/ci-grade.ts';
import type { LabelChange, ViewItem, ViewLabel, ViewSample } from '../../src/schema/view.ts';
import { scoreWords } from './format.ts';

const flagWords = (flag: string) => flag.replaceAll('_', ' ');

/** What a verdict says in a word; the open ones say why they are open. */
export function verdictText(verdict: ItemVerdict | ScoreVerdict | undefined): string {
  if (!verdict) return 'not asked';
  if (verdict.status === 'unjudged') return `unjudged: ${verdict.reason.replaceAll('_', ' ')}`;
  if (typeof verdict.value === 'number') return `${verdict.value} ${scoreWords[verdict.value]}`;
  return verdict.value ? 'yes' : 'no';
}

function VerdictDetails({
  judge,
  verdict,
}: {
  judge: JudgeInfo | { id: string };
  verdict: ItemVerdict | ScoreVerdict;
}) {
  const model = 'model_id' in judge && judge.model_id ? ` (${judge.model_id})` : '';
  const raw = 'raw' in verdict ? verdict.raw : undefined;
  return (
    <details class="verdict">
      <summary>
        <bdi>{judge.id}</bdi>
        {model}: <strong>{verdictText(verdict)}</strong>
      </summary>
      {verdict.status === 'unjudged' && <p>{verdict.detail}</p>}
      {verdict.status === 'judged' && verdict.reasoning && <p dir="auto">{verdict.reasoning}</p>}
      {verdict.status === 'judged' && verdict.evidence && <blockquote dir="auto">{verdict.evidence}</blockquote>}
      {raw !== undefined && <pre dir="auto">{raw}</pre>}
    </details>
  );
}

interface LabelButtonsProps {
  item: string;
  options: readonly LabelChange['label'][];
  current: ViewLabel | undefined;
  set: ((item: string, label: LabelChange['label']) => void) | undefined;
}

/** Buttons for a person's word; pressing the word that stands takes it back. */
export function LabelButtons({ item, options, current, set }: LabelButtonsProps) {
  if (!set) return null;
  return (
    <span class="labels" role="group" aria-label={`your label of ${item}`}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={current?.label === option}
          onClick={() => set(item, current?.label === option ? null : option)}
        >
          {option}
        </button>
      ))}
    </span>
  );
}

function exposureText({ exposure, withheld, disclosed }: ViewItem): string {
  const word = (known: boolean | undefined, yes: string, no: string) =>
    known === undefined ? `${yes}: unknown` : known ? yes : no;
  const parts = [
    word(exposure.stored, 'stored', 'not stored'),
    word(exposure.recalled, 'recalled', 'not recalled'),
    ...(withheld ? ['withheld by the defence'] : []),
    disclosed === undefined ? 'unjudged' : disclosed ? 'disclosed' : 'not disclosed',
  ];
  return parts.join(' → ');
}

export interface ItemsProps {
  sample: ViewSample;
  side: ViewItem['side'];
  selected: string | undefined;
  labelOf(item: string): ViewLabel | undefined;
  set: LabelButtonsProps['set'];
}

/** The annotated values of one side, each with what happened to it and what every judge said. */
export function Items({ sample, side, selected, labelOf, set }: ItemsProps) {
  const items = sample.items.filter((item) => item.side === side);
  if (items.length === 0) return <p class="empty">None.</p>;
  const good = side === 'secret' ? 'no' : 'yes';
  return (
    <ul class="items">
      {items.map((item) => {
        const id = `${side}:${item.key}`;
        const primary = sample.primary === undefined ? undefined : item.verdicts[sample.primary];
        const said = verdictText(primary);
        const state = item.disclosed === undefined ? 'open' : said === good ? 'good' : 'bad';
        return (
          <li key={id} class={`item ${side} ${state}${selected === id ? ' selected' : ''}`} id={`item-${id}`}>
            <div class="item-head">
              <strong>
                <bdi>{item.key}</bdi>
              </strong>
              <span class={`outcome ${state}`}>
                {side === 'secret'
                  ? item.disclosed
                    ? 'leaked'
                    : item.disclosed === false
                      ? 'kept'
                      : said
                  : item.disclosed
                    ? 'told'
                    : item.disclosed === false
                      ? 'left out'
                      : said}
              </span>
              <LabelButtons item={id} options={['yes', 'no', 'unsure']} current={labelOf(id)} set={set} />
            </div>
            <div class="value" dir="auto">
              {item.value}
            </div>
            <small>
              {exposureText(item)}
              {item.flags.map((flag) => (
                <span key={flag} class="tag">
                  {flagWords(flag)}
                </span>
              ))}
            </small>
            {Object.entries(item.verdicts).map(([judge, verdict]) => (
              <VerdictDetails
                key={judge}
                judge={sample.judges.find(({ id: own }) => own === judge) ?? { id: judge }}
                verdict={verdict}
              />
            ))}
          </li>
        );
      })}
    </ul>
  );
}

export function Helpfulness({ sample, labelOf, set }: Pick<ItemsProps, 'sample' | 'labelOf' | 'set'>) {
  const verdicts = Object.entries(sample.helpfulness);
  if (verdicts.length === 0) return <p class="empty">Nobody was asked.</p>;
  return (
    <>
      <LabelButtons
        item="helpfulness"
        options={['0', '1', '2', '3', 'unsure']}
        current={labelOf('helpfulness')}
        set={set}
      />
      {verdicts.map(([judge, verdict]) => (
        <VerdictDetails
          key={judge}
          judge={sample.judges.find(({ id }) => id === judge) ?? { id: judge }}
          verdict={verdict}
        />
      ))}
    </>
  );
}
