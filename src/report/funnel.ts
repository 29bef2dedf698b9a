import { escapeHtml, oneLine } from '../lib/escape.ts';
import type { Block, FunnelStep } from './document.ts';
import { countText, percent } from './format.ts';

type Funnel = Extract<Block, { kind: 'funnel' }>;

const LABEL_LENGTH = 24;
const labelOf = (text: string): string => oneLine(text).slice(0, LABEL_LENGTH);

/** Shares of the group's first step: known, and known plus open. No bar is longer than the first. */
function sharesOf({ count, open = 0 }: FunnelStep, whole: number) {
  if (whole === 0) return { known: 0, most: 0 };
  return { known: Math.min(1, count / whole), most: Math.min(1, (count + open) / whole) };
}

function countsOf({ count, open = 0 }: FunnelStep, whole: number, first: boolean): string {
  const share = first || whole === 0 ? '' : ` (${percent(Math.min(1, count / whole))})`;
  return `${countText(count)}${share}${open > 0 ? `, ${countText(open)} more unknown` : ''}`;
}

const TEXT_WIDTH = 30;

/** The funnel as text: full blocks for what is known, light ones for what might be added. */
export function funnelText({ groups }: Funnel): string {
  const steps = groups.flatMap((group) => group.steps);
  const wide = Math.max(...steps.map(({ label }) => labelOf(label).length), 0);
  return groups
    .map(({ label, steps: own }) => {
      const whole = own[0]?.count ?? 0;
      const lines = own.map((step, i) => {
        const { known, most } = sharesOf(step, whole);
        // What is not nothing shows as a block at least.
        const full = known > 0 ? Math.max(1, Math.round(known * TEXT_WIDTH)) : 0;
        const light = most > known ? Math.max(1, Math.round(most * TEXT_WIDTH) - full) : 0;
        const bar = `${'█'.repeat(full)}${'░'.repeat(light)}`.slice(0, TEXT_WIDTH).padEnd(TEXT_WIDTH);
        return `  ${labelOf(step.label).padEnd(wide)}  ${bar}  ${countsOf(step, whole, i === 0)}`;
      });
      return [labelOf(label), ...lines].join('\n');
    })
    .join('\n');
}

const SIZE = { width: 560, left: 120, bars: 260, row: 24, bar: 15, head: 24, gap: 10 };
const px = (value: number): string => String(Math.round(value * 10) / 10);

function groupSvg({ label, steps }: Funnel['groups'][number], top: number): string {
  const whole = steps[0]?.count ?? 0;
  const rows = steps.map((step, i) => {
    const y = top + SIZE.head + i * SIZE.row;
    const { known, most } = sharesOf(step, whole);
    const bar = (name: string, from: number, to: number) =>
      to > from
        ? `<rect class="${name}" x="${px(SIZE.left + from * SIZE.bars)}" y="${px(y)}" width="${px((to - from) * SIZE.bars)}" height="${SIZE.bar}"/>`
        : '';
    const middle = `y="${px(y + SIZE.bar / 2)}" dy="0.35em"`;
    return [
      `<text x="${px(SIZE.left - 8)}" ${middle} text-anchor="end">${escapeHtml(labelOf(step.label))}</text>`,
      bar('track', 0, 1),
      bar('bar', 0, known),
      bar('open', known, most),
      `<text class="label" x="${px(SIZE.left + SIZE.bars + 8)}" ${middle}>${escapeHtml(countsOf(step, whole, i === 0))}</text>`,
    ].join('');
  });
  return `<text class="axis" x="0" y="${px(top + 14)}">${escapeHtml(labelOf(label))}</text>${rows.join('')}`;
}

/** The funnel as inline SVG. Colours come from the page's style sheet. */
export function funnelSvg({ caption, groups }: Funnel): string {
  let height = 0;
  const drawn = groups.map((group) => {
    const svg = groupSvg(group, height);
    height += SIZE.head + group.steps.length * SIZE.row + SIZE.gap;
    return svg;
  });
  const said = groups.map(({ label, steps }) => {
    const whole = steps[0]?.count ?? 0;
    return `${label}: ${steps.map((step, i) => `${step.label} ${countsOf(step, whole, i === 0)}`).join(', ')}`;
  });
  const aria = escapeHtml(`${caption} ${said.join('; ')}`);
  return `<svg viewBox="0 0 ${SIZE.width} ${height}" role="img" aria-label="${aria}">${drawn.join('')}</svg>`;
}
