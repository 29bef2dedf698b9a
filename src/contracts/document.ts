/**
 * A report as data, before it is Markdown or HTML. All text is plain: a renderer escapes it, so a document may hold
 * whatever a model said. Text from outside belongs in `code` or a `quote` block, where nothing is read as markup.
 */
export type Inline = string | { strong: string } | { code: string };
export type Rich = Inline | readonly Inline[];

export interface Cell {
  text: Rich;
  /** Said in smaller type beside or below the text: an interval, a count. Several are set one below the other. */
  detail?: string | readonly string[];
}

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** A point with its intervals, all in [0, 1]. */
export interface PlotPoint {
  label: string;
  /** What others are measured against and no result itself: drawn hollow. */
  reference?: boolean;
  x: { value: number; low: number; high: number };
  y: { value: number; low: number; high: number };
}

/** One step of a funnel: how many are left, and how many more might be. */
export interface FunnelStep {
  label: string;
  count: number;
  /** Of which nobody knows; drawn lighter, after the count. */
  open?: number;
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
  | { kind: 'interval_plot'; caption: string; x: string; y: string; points: readonly PlotPoint[] }
  /** What is left of each group, step by step. Every bar is drawn against the group's first step. */
  | { kind: 'funnel'; caption: string; groups: readonly { label: string; steps: readonly FunnelStep[] }[] };

export interface Document {
  title: string;
  subtitle?: string;
  blocks: readonly Block[];
}
