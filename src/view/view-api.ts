import type { CiComparison } from '../schema/ci-comparison.ts';
import type { LabelChange, Overview, RowFlag, RowQuery, RowsPage, ViewLabels, ViewSample } from '../schema/view.ts';

/**
 * What the viewer's page reads, and all that it reads. There are two of it: one asks the server, one reads the files of
 * a static export. The page does not know which it has but for `overview().live`.
 */
export interface ViewApi {
  overview(): Promise<Overview>;
  /** The matched rows from `offset` on, at most `limit` of them. */
  rows(query: RowQuery, offset: number, limit: number): Promise<RowsPage>;
  /** The position, among the matched, of the next row from `from` on (backwards where `step` is -1) with the flag. */
  seek(query: RowQuery, from: number, step: 1 | -1, flag: RowFlag): Promise<number | undefined>;
  /** Where a row stands among the matched; nothing where the query does not keep it. */
  positionOf(query: RowQuery, row: number): Promise<number | undefined>;
  sample(row: number): Promise<ViewSample>;
  /** Every arm against a baseline, as `heams compare` does it; nothing where there is nothing to compare with. */
  differences(baseline: string): Promise<CiComparison | undefined>;
  labels(): Promise<ViewLabels>;
  /** Rejects in a static export. */
  setLabel(change: LabelChange): Promise<ViewLabels>;
}

/** Most rows that one answer holds. */
export const MAX_ROWS = 500;
