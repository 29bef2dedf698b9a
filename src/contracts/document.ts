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
