import type { Block, Cell, Column, Inline, Rich } from '../contracts/document.ts';

export type { Block, Cell, Column, Document, FunnelStep, Inline, PlotPoint, Rich } from '../contracts/document.ts';

export const heading = (level: 2 | 3 | 4, text: Rich): Block => ({ kind: 'heading', level, text });
export const paragraph = (...text: Inline[]): Block => ({ kind: 'paragraph', text });
export const list = (items: readonly Rich[]): Block => ({ kind: 'list', items });
export const quote = (text: string): Block => ({ kind: 'quote', text });
export const details = (summary: Rich, blocks: readonly Block[]): Block => ({ kind: 'details', summary, blocks });
export const table = (
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
): Block => ({ kind: 'table', caption, columns, rows });
/** The details of a cell, however many there are. */
export const detailsOf = ({ detail }: Cell): readonly string[] =>
  detail === undefined ? [] : typeof detail === 'string' ? [detail] : detail;
export const code = (text: string): Inline => ({ code: text });
export const strong = (text: string): Inline => ({ strong: text });

export const inlines = (text: Rich): readonly Inline[] => (Array.isArray(text) ? text : [text as Inline]);
export const cellOf = (cell: Cell | string): Cell => (typeof cell === 'string' ? { text: cell } : cell);
