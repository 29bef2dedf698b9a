import { escapeHtml, oneLine } from '../lib/escape.ts';
import type { Block } from './document.ts';

const SIZE = { width: 560, height: 400, left: 58, right: 16, top: 16, bottom: 52 };
const LABEL_LENGTH = 28;

type Plot = Extract<Block, { kind: 'interval_plot' }>;

const px = (value: number) => String(Math.round(value * 10) / 10);
const xAt = (share: number) => px(SIZE.left + share * (SIZE.width - SIZE.left - SIZE.right));
const yAt = (share: number) => px(SIZE.height - SIZE.bottom - share * (SIZE.height - SIZE.top - SIZE.bottom));

function gridAndAxes({ x, y }: Plot): string {
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const lines = ticks.flatMap((share) => [
    `<line class="grid" x1="${xAt(share)}" y1="${yAt(0)}" x2="${xAt(share)}" y2="${yAt(1)}"/>`,
    `<line class="grid" x1="${xAt(0)}" y1="${yAt(share)}" x2="${xAt(1)}" y2="${yAt(share)}"/>`,
    `<text x="${xAt(share)}" y="${px(SIZE.height - SIZE.bottom + 18)}" text-anchor="middle">${share * 100} %</text>`,
    `<text x="${px(SIZE.left - 8)}" y="${yAt(share)}" dy="0.35em" text-anchor="end">${share * 100} %</text>`,
  ]);
  const middle = px(SIZE.top + (SIZE.height - SIZE.top - SIZE.bottom) / 2);
  return [
    ...lines,
    `<text class="axis" x="${xAt(0.5)}" y="${px(SIZE.height - 10)}" text-anchor="middle">${escapeHtml(x)}</text>`,
    `<text class="axis" x="14" y="${middle}" text-anchor="middle" transform="rotate(-90 14 ${middle})">${escapeHtml(y)}</text>`,
  ].join('');
}

interface Label {
  text: string;
  x: number;
  y: number;
  end: boolean;
}

/** About as wide as a letter of the plot's type is on average, and as high as a line. */
const LETTER = { width: 6.4, height: 13 };

function overlaps(a: Label, b: Label): boolean {
  const [aLeft, bLeft] = [a, b].map(({ text, x, end }) => (end ? x - text.length * LETTER.width : x)) as [
    number,
    number,
  ];
  const apart = aLeft + a.text.length * LETTER.width < bLeft || bLeft + b.text.length * LETTER.width < aLeft;
  return !apart && Math.abs(a.y - b.y) < LETTER.height;
}

/** A place for each label near its point, on no other label: as close as can be, first above, then below. */
function placeLabels(points: Plot['points']): Label[] {
  const placed: Label[] = [];
  for (const { label, x, y } of points) {
    const text = oneLine(label).slice(0, LABEL_LENGTH);
    // Labels of points on the right half stand to the left, so that none leaves the picture.
    const end = x.value > 0.6;
    const at = { text, end, x: Number(xAt(x.value)) + (end ? -9 : 9) };
    const base = Number(yAt(y.value));
    const offsets = [
      -6,
      15,
      ...Array.from({ length: 12 }, (_, i) => [-6 - LETTER.height * (i + 1), 15 + LETTER.height * (i + 1)]).flat(),
    ];
    const inside = offsets
      .map((offset) => base + offset)
      .filter((line) => line > 10 && line < SIZE.height - SIZE.bottom - 2);
    const free = inside.find((line) => !placed.some((other) => overlaps({ ...at, y: line }, other)));
    placed.push({ ...at, y: free ?? base - 6 });
  }
  return placed;
}

function point({ x, y, reference }: Plot['points'][number], label: Label, index: number): string {
  const at = `x="${px(label.x)}" y="${px(label.y)}" text-anchor="${label.end ? 'end' : 'start'}"`;
  return [
    `<g class="series-${index % 6}${reference ? ' reference' : ''}">`,
    `<line class="interval" x1="${xAt(x.low)}" y1="${yAt(y.value)}" x2="${xAt(x.high)}" y2="${yAt(y.value)}"/>`,
    `<line class="interval" x1="${xAt(x.value)}" y1="${yAt(y.low)}" x2="${xAt(x.value)}" y2="${yAt(y.high)}"/>`,
    `<circle cx="${xAt(x.value)}" cy="${yAt(y.value)}" r="4.5"/>`,
    `<text class="label" ${at}>${escapeHtml(label.text)}</text></g>`,
  ].join('');
}

/** The plot as inline SVG: a point with a cross of intervals for each arm. Colours come from the page's style sheet. */
export function intervalPlotSvg(plot: Plot): string {
  const described = plot.points
    .map(
      ({ label, x, y }) =>
        `${label}: ${plot.x} ${Math.round(x.value * 100)} %, ${plot.y} ${Math.round(y.value * 100)} %`,
    )
    .join('; ');
  const labels = placeLabels(plot.points);
  return [
    `<svg viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${escapeHtml(`${plot.caption} ${described}`)}">`,
    gridAndAxes(plot),
    ...plot.points.map((one, i) => point(one, labels[i] as Label, i)),
    '</svg>',
  ].join('');
}
