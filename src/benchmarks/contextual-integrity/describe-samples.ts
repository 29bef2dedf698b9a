import { leafText } from '../../lib/leaves.ts';
import type { CiItem, CiSample } from './sample.ts';

/** What a dataset holds, in numbers; rows count from 0. */
export interface CiDatasetDescription {
  rows: number;
  facts: number;
  allowed: number;
  disallowed: number;
  /** Annotation values that are lists or objects, and the rows that have one. */
  nested: { values: number; rows: number[] };
  /** Rows with a key on both sides. */
  both_sides: number[];
  /** Rows with a disallowed value that equals an allowed one. */
  equal_values: number[];
  /** Rows that share their seed with another row are not independent of each other. */
  shared_seeds: { groups: number; rows: number };
  domains: Record<string, number>;
  transmission_principles: Record<string, number>;
  scenarios: Record<string, number>;
}

/** Describes samples that were loaded in the file's order, from its first row on. */
export function describeSamples(samples: readonly CiSample[]): CiDatasetDescription {
  const sum = (count: (sample: CiSample) => number) => samples.reduce((total, sample) => total + count(sample), 0);
  const rowsWhere = (holds: (sample: CiSample) => boolean) =>
    samples.flatMap((sample, row) => (holds(sample) ? [row] : []));
  const nestedIn = (sample: CiSample) => itemsOf(sample).filter(({ value }) => typeof value === 'object').length;
  const groups = Object.values(countBy(samples, (sample) => sample.cluster)).filter((size) => size > 1);
  return {
    rows: samples.length,
    facts: sum((sample) => sample.facts.length),
    allowed: sum((sample) => sample.data.fields.length),
    disallowed: sum((sample) => sample.data.secrets.length),
    nested: { values: sum(nestedIn), rows: rowsWhere((sample) => nestedIn(sample) > 0) },
    both_sides: rowsWhere((sample) => overlap(sample, (item) => item.key)),
    equal_values: rowsWhere((sample) => overlap(sample, (item) => leafText(item.value))),
    shared_seeds: { groups: groups.length, rows: groups.reduce((total, size) => total + size, 0) },
    domains: countBy(samples, (sample) => sample.data.seed.domain),
    transmission_principles: countBy(samples, (sample) => sample.data.seed.transmission_principle),
    scenarios: countBy(samples, (sample) => sample.data.seed.scenario),
  };
}

const itemsOf = ({ data }: CiSample): readonly CiItem[] => [...data.secrets, ...data.fields];

function overlap({ data }: CiSample, of: (item: CiItem) => string): boolean {
  const allowed = new Set(data.fields.map(of));
  return data.secrets.some((item) => allowed.has(of(item)));
}

/** Counts by name, the most frequent first. */
function countBy(samples: readonly CiSample[], of: (sample: CiSample) => string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const sample of samples) counts.set(of(sample), (counts.get(of(sample)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
}
