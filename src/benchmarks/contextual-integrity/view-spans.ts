import { type CiGrade, type GradedItem, type Side, STRING_BOUNDARY, STRING_RAW } from '../../schema/ci-grade.ts';
import type { Span } from '../../schema/view.ts';

const isStringJudge = (id: string): boolean => id === STRING_RAW || id === STRING_BOUNDARY;

/** Runs of white space match any other; a judge quotes a message in lines of its own. */
const flexible = (text: string): RegExp =>
  new RegExp(
    text
      .split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+'),
    'giu',
  );

/** Words around a quotation that are a judge's and not the message's. */
const unquoted = (text: string): string => text.trim().replace(/^["'“”‘’`]+|["'“”‘’`]+$/g, '');

/** Longer evidence than this is a retelling, and looking for it word by word would only cost time. */
const LONGEST = 5000;

/** Every place where the evidence stands in the message; none where the judge put it in words of its own. */
function placesOf(evidence: string, message: string): { start: number; end: number }[] {
  const wanted = unquoted(evidence);
  if (wanted === '' || wanted.length > LONGEST) return [];
  return [...message.matchAll(flexible(wanted))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function spansOfItem(item: GradedItem, side: Side, message: string): Span[] {
  return Object.entries(item.verdicts).flatMap(([judge, verdict]) => {
    if (verdict.status !== 'judged' || !verdict.value || verdict.evidence === undefined) return [];
    const by = isStringJudge(judge) ? ('string' as const) : ('judge' as const);
    return verdict.evidence
      .split('\n')
      .flatMap((line) => placesOf(line, message))
      .map((place) => ({ ...place, side, key: item.key, by }));
  });
}

const order = (a: Span, b: Span): number => a.start - b.start || b.end - a.end;
const same = (a: Span, b: Span): boolean =>
  a.start === b.start && a.end === b.end && a.side === b.side && a.key === b.key && a.by === b.by;

/** The stretches of a message that the verdicts rest on, in order of their beginning; each once. */
export function spansOf(grade: CiGrade, message: string): Span[] {
  const all = [
    ...grade.secrets.flatMap((item) => spansOfItem(item, 'secret', message)),
    ...grade.fields.flatMap((item) => spansOfItem(item, 'field', message)),
  ].sort(order);
  return all.filter((span, i) => !all.slice(0, i).some((earlier) => same(earlier, span)));
}
