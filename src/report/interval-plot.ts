import { escapeHtml, oneLine } from '../lib/escape.ts';
import type { Block } from './document.ts';
import { type PlotLabel, placeLabels } from './plot-labels.ts';

const SIZE = { width: 560, height: 400, left: 58, right: 26, top: 16, bottom: 52 };
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

/** Labels of points on the right part stand to the left of them. */
const TURN = 0.6;

function labelsOf(points: Plot['points']) {
  const marked = points.map(({ label, x, y }) => ({
    text: oneLine(label).slice(0, LABEL_LENGTH),
    x: Number(xAt(x.value)),
    y: Number(yAt(y.value)),
  }));
  return placeLabels(marked, { turnAt: Number(xAt(TURN)), top: 10, bottom: SIZE.height - SIZE.bottom - 2 });
}

function point({ x, y, reference }: Plot['points'][number], label: PlotLabel, index: number): string {
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
  const labels = labelsOf(plot.points);
  return [
    `<svg viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${escapeHtml(`${plot.caption} ${described}`)}">`,
    gridAndAxes(plot),
    ...plot.points.map((one, i) => point(one, labels[i] as PlotLabel, i)),
    '</svg>',
  ].join('');
}
