import type { SampleRecord } from '../schema/record.ts';
import type { ViewRow, ViewSample } from '../schema/view.ts';

/** A record as a row of the viewer's table; its place in the index is not the benchmark's to know. */
export type RowContent = Omit<ViewRow, 'row'>;
export type SampleContent = Omit<ViewSample, 'version' | 'row' | 'siblings'>;

/** A text that masking strikes out, and what stands in its place: a code that says nothing about the text. */
export interface SecretText {
  text: string;
  code: string;
}

/** How a benchmark shows its records in the viewer. Pure, and all its texts are plain. */
export interface Viewer {
  readonly benchmark: string;
  /** Whether a record is of an arm that others are measured against. */
  isControl(record: SampleRecord): boolean;
  row(record: SampleRecord): RowContent;
  sample(record: SampleRecord): SampleContent;
  /** What of a record is secret: every leaf of every secret. The code is the same in every arm and repeat. */
  secrets(record: SampleRecord): SecretText[];
}
