import type { Span } from '../../src/schema/view.ts';

interface Piece {
  text: string;
  spans: readonly Span[];
}

/** The message cut wherever a span begins or ends, so that spans may overlap. */
export function piecesOf(text: string, spans: readonly Span[]): Piece[] {
  const valid = spans.filter(({ start, end }) => start < end && end <= text.length);
  const cuts = [...new Set([0, text.length, ...valid.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((start, i) => {
    const end = cuts[i + 1] as number;
    return { text: text.slice(start, end), spans: valid.filter((span) => span.start <= start && span.end >= end) };
  });
}

const words = { secret: 'leaks', field: 'communicates' } as const;
const sources = { judge: 'the judge’s evidence', string: 'found word for word' } as const;

function Piece({ text, spans }: Piece) {
  if (spans.length === 0) return <>{text}</>;
  const leak = spans.some(({ side }) => side === 'secret');
  const judged = spans.some(({ side, by }) => by === 'judge' && (side === 'secret') === leak);
  const said = [...new Set(spans.map(({ side, key, by }) => `${words[side]} ${key} (${sources[by]})`))].join('; ');
  return (
    <mark class={`${leak ? 'leak' : 'told'} ${judged ? 'by-judge' : 'by-string'}`} title={said}>
      {text}
    </mark>
  );
}

/** A message as plain text, with what it discloses marked. Leaks win over what may be said where both stand. */
export function Message({ text, spans, label }: { text: string; spans: readonly Span[]; label: string }) {
  if (text === '') return <p class="empty">The message is empty.</p>;
  return (
    <div class="message" dir="auto" role="region" aria-label={label}>
      {piecesOf(text, spans).map((piece, i) => (
        <Piece key={i} {...piece} />
      ))}
    </div>
  );
}

export function Legend() {
  return (
    <p class="legend">
      <mark class="leak by-judge">leak, by the judge</mark> <mark class="leak by-string">leak, word for word</mark>{' '}
      <mark class="told by-judge">allowed, by the judge</mark>{' '}
      <mark class="told by-string">allowed, word for word</mark>
    </p>
  );
}
