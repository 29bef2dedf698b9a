import { createHash } from 'node:crypto';
import { escapeHtml, oneLine } from '../lib/escape.ts';
import {
  type Block,
  type Cell,
  type Column,
  cellOf,
  type Document,
  detailsOf,
  type Inline,
  inlines,
  type Rich,
} from './document.ts';
import { funnelSvg } from './funnel.ts';
import { styleSheet } from './html-style.ts';
import { intervalPlotSvg } from './interval-plot.ts';

function inline(part: Inline): string {
  if (typeof part === 'string') return escapeHtml(part);
  if ('code' in part) return `<code dir="auto">${escapeHtml(oneLine(part.code)) || '(empty)'}</code>`;
  return `<strong>${escapeHtml(part.strong)}</strong>`;
}

const rich = (text: Rich): string => inlines(text).map(inline).join('');

function cellHtml(cell: Cell | string, column: Column | undefined, first: boolean): string {
  const own = cellOf(cell);
  const align = column?.align === 'right' ? ' class="right"' : '';
  const small = detailsOf(own).map((detail) => `<small>${escapeHtml(detail)}</small>`);
  const content = rich(own.text) + small.join('');
  return first ? `<th scope="row"${align}>${content}</th>` : `<td${align}>${content}</td>`;
}

function tableHtml({ caption, columns, rows }: Extract<Block, { kind: 'table' }>): string {
  const heads = columns.map(
    ({ title, align }) => `<th scope="col"${align === 'right' ? ' class="right"' : ''}>${escapeHtml(title)}</th>`,
  );
  const body = rows.map((row) => `<tr>${row.map((cell, i) => cellHtml(cell, columns[i], i === 0)).join('')}</tr>`);
  // A wide table scrolls by itself, also with the keyboard, so that the page never does.
  return [
    `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(caption)}"><table>`,
    `<caption>${escapeHtml(caption)}</caption>`,
    `<thead><tr>${heads.join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody></table></div>`,
  ].join('\n');
}

function render(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${rich(block.text)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${rich(block.text)}</p>`;
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${rich(item)}</li>`).join('')}</ul>`;
    case 'table':
      return tableHtml(block);
    case 'quote':
      // HTML drops a newline right after <pre>; one of our own keeps the text's.
      return `<pre dir="auto">\n${escapeHtml(block.text)}</pre>`;
    case 'details':
      return `<details><summary>${rich(block.summary)}</summary>${block.blocks.map(render).join('\n')}</details>`;
    case 'funnel':
      return `<figure>${funnelSvg(block)}<figcaption>${escapeHtml(block.caption)}</figcaption></figure>`;
    case 'interval_plot':
      return `<figure>${intervalPlotSvg(block)}<figcaption>${escapeHtml(block.caption)}</figcaption></figure>`;
  }
}

/**
 * A document as one HTML file that loads nothing and runs nothing: its content security policy allows the one style
 * sheet inside it, by hash, and refuses all else.
 */
export function renderHtml(document: Document): string {
  const hash = createHash('sha256').update(styleSheet).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const subtitle = document.subtitle === undefined ? '' : `<p class="subtitle">${escapeHtml(document.subtitle)}</p>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(oneLine(document.title))}</title>
<style>${styleSheet}</style>
</head>
<body>
<main>
<h1>${escapeHtml(oneLine(document.title))}</h1>
${subtitle}${document.blocks.map(render).join('\n')}
</main>
</body>
</html>
`;
}
