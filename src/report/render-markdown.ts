import { escapeMarkdown, markdownCode, markdownFence, markdownLineStart } from '../lib/escape.ts';
import {
  type Block,
  type Cell,
  cellOf,
  type Document,
  detailsOf,
  type Inline,
  inlines,
  type Rich,
} from './document.ts';
import { funnelText } from './funnel.ts';

function inline(part: Inline): string {
  if (typeof part === 'string') {
    // Spaces at the ends separate parts of one paragraph; escaping trims them.
    const [, before = '', after = ''] = /^(\s*)[\s\S]*?(\s*)$/.exec(part) ?? [];
    return part.trim() === '' ? part && ' ' : `${before && ' '}${escapeMarkdown(part)}${after && ' '}`;
  }
  if ('code' in part) return markdownCode(part.code);
  return `**${escapeMarkdown(part.strong)}**`;
}

const rich = (text: Rich): string => inlines(text).map(inline).join('');

function cellText(cell: Cell | string): string {
  const own = cellOf(cell);
  const main = inlines(own.text)
    // A pipe splits cells even inside a code span; the table takes the backslash away again.
    .map((part) => (typeof part === 'object' && 'code' in part ? inline(part).replace(/\|/g, '\\|') : inline(part)))
    .join('');
  const details = detailsOf(own);
  return details.length === 0 ? main : `${main} (${escapeMarkdown(details.join('; '))})`;
}

function tableLines(block: Extract<Block, { kind: 'table' }>): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const lines = [
    line(block.columns.map(({ title }) => escapeMarkdown(title))),
    line(block.columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...block.rows.map((row) => line(row.map(cellText))),
  ];
  return `**${escapeMarkdown(block.caption)}**\n\n${lines.join('\n')}`;
}

function render(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.level)} ${rich(block.text)}`];
    case 'paragraph':
      return [markdownLineStart(rich(block.text))];
    case 'list':
      return [block.items.map((item) => `- ${markdownLineStart(rich(item))}`).join('\n')];
    case 'table':
      return [tableLines(block)];
    case 'quote':
      return [markdownFence(block.text)];
    case 'details':
      return [markdownLineStart(rich(block.summary)), ...block.blocks.flatMap(render)];
    case 'funnel':
      return [`**${escapeMarkdown(block.caption)}**`, markdownFence(funnelText(block))];
    case 'interval_plot':
      return [];
  }
}

/** A document as Markdown (GFM). It holds no HTML. */
export function renderMarkdown(document: Document): string {
  const head = [`# ${escapeMarkdown(document.title)}`];
  if (document.subtitle !== undefined) head.push(markdownLineStart(escapeMarkdown(document.subtitle)));
  return `${[...head, ...document.blocks.flatMap(render)].join('\n\n')}\n`;
}
