/**
 * A report as data, before it is Markdown or HTML. All text is plain: a renderer escapes it, so a document may hold
 * whatever a model said. Text from outside belongs in `code` or a `quote` block, where nothing is read as markup.
 */
export type Inline = string | { strong: string } | { code: string };
export type Rich = Inline | readonly Inline[];

export interface Cell {
  text: Rich;
  /** Said in smaller type beside or below the text: an interval, a count. */
  detail?: string;
}

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** A point with its intervals, all in [0, 1]. */
export interface PlotPoint {
  label: string;
  x: { value: number; low: number; high: number };
  y: { value: number; low: number; high: number };
}

export type Block =
  | { kind: 'heading'; level: 2 | 3 | 4; text: Rich }
  | { kind: 'paragraph'; text: Rich }
  | { kind: 'list'; items: readonly Rich[] }
  /** The first column names the row. */
  | { kind: 'table'; caption: string; columns: readonly Column[]; rows: readonly (readonly (Cell | string)[])[] }
  /** Verbatim text from outside. */
  | { kind: 'quote'; text: string }
  | { kind: 'details'; summary: Rich; blocks: readonly Block[] }
  /** A figure that shows again what a table says; where it cannot be drawn it is left out. */
  | { kind: 'interval_plot'; caption: string; x: string; y: string; points: readonly PlotPoint[] };

export interface Document {
  title: string;
  subtitle?: string;
  blocks: readonly Block[];
}

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
export const code = (text: string): Inline => ({ code: text });
export const strong = (text: string): Inline => ({ strong: text });

export const inlines = (text: Rich): readonly Inline[] => (Array.isArray(text) ? text : [text as Inline]);
export const cellOf = (cell: Cell | string): Cell => (typeof cell === 'string' ? { text: cell } : cell);
