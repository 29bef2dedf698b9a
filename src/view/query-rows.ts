import type { RowFlag, RowQuery, ViewRow } from '../schema/view.ts';

/** How many of what a flag asks for a row has. */
const countOf: Readonly<Record<RowFlag, (row: ViewRow) => number>> = {
  leaked: (row) => row.leaked,
  recalled: (row) => row.recalled,
  flagged: (row) => row.flagged,
  disputed: (row) => row.disputed,
  unjudged: (row) => row.unjudged,
  failed: (row) => (row.status === 'failed' ? 1 : 0),
};
export const hasFlag = (row: ViewRow, flag: RowFlag): boolean => countOf[flag](row) > 0;

/** Whether a row is kept, whatever its message says. */
function keeps(query: RowQuery): (row: ViewRow) => boolean {
  const experiments = new Set(query.experiments);
  const tags = Object.entries(query.tags).map(([name, values]) => [name, new Set(values)] as const);
  const flags = Object.entries(query.flags) as [RowFlag, boolean][];
  return (row) =>
    (experiments.size === 0 || experiments.has(row.experiment)) &&
    (query.sample === undefined || row.sample_id === query.sample) &&
    tags.every(([name, values]) => values.size === 0 || values.has(row.tags[name] ?? '')) &&
    flags.every(([flag, wanted]) => hasFlag(row, flag) === wanted);
}

/** Places in the order of the index are what ties go by. A row without a value comes last, whichever way it is sorted. */
const sortKey: Readonly<Record<RowQuery['sort'], (row: ViewRow) => number | string | undefined>> = {
  order: (row) => row.row,
  experiment: (row) => row.experiment,
  sample: (row) => row.sample_id,
  leaked: (row) => (row.status === 'failed' ? undefined : row.leaked),
  communicated: (row) => (row.fields === 0 || row.status === 'failed' ? undefined : row.communicated / row.fields),
  helpfulness: (row) => row.helpfulness,
  cost: (row) => row.cost_usd,
  time: (row) => row.total_ms,
};

/** Sample ids are numbers more often than not: 9 comes before 10. */
const collator = new Intl.Collator('en', { numeric: true });

function compareKeys(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a), String(b));
}

/**
 * The rows that a query keeps, in its order. `found` tells which rows' messages hold the query's text: to look for it
 * is not this function's work, as the messages are not in the rows.
 */
export function queryRows(rows: readonly ViewRow[], query: RowQuery, found?: ReadonlySet<number>): ViewRow[] {
  const keep = keeps(query);
  const kept = rows.filter((row) => keep(row) && (found === undefined || found.has(row.row)));
  if (query.sort === 'order') return query.descending ? kept.reverse() : kept;
  const key = sortKey[query.sort];
  const sign = query.descending ? -1 : 1;
  const keyed = kept.map((row) => ({ row, key: key(row) }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined) {
      return Number(a.key === undefined) - Number(b.key === undefined) || a.row.row - b.row.row;
    }
    return sign * compareKeys(a.key, b.key) || a.row.row - b.row.row;
  });
  return keyed.map(({ row }) => row);
}
