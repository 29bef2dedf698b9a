/** What differs between two runs of the same thing: ids and times, and how often a call had to be tried again. */
const VOLATILE = new Set(['run_id', 'run_ids', 'timings', 'durations', 'time', 'started_at', 'retries']);

/** A record or metrics without ids, times and retries. */
export function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !VOLATILE.has(key))
      .map(([key, inner]) => [key, stripped(inner)]),
  );
}

/** The records of an experiment by job key, without what may differ between two runs. */
export function byKey(records: readonly Record<string, unknown>[]): Map<string, unknown> {
  return new Map(records.map((record) => [String(record.key), stripped(record)]));
}
