import { type Side, sides } from '../../schema/ci-grade.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { IdTable } from '../../stats/id-table.ts';
import { IntColumn } from '../../stats/int-column.ts';
import { type ColumnName, type Counts, columnNames, type Family, noCounts, type Outcome } from './metrics-observe.ts';

/** What became of the sample as a whole. Failed and unreadable samples have no counts. */
const states = ['failed', 'unreadable', 'yes', 'no', 'open'] as const;
type RowState = (typeof states)[number];

const MAX_TAGS = 12;
const MAX_TAG_VALUES = 200;
export const NO_VALUE = '(none)';
export const OTHER_VALUES = '(other values)';

interface TagColumn {
  ids: Map<string, number>;
  column: IntColumn;
}

/** Of a message; `unknown` where there is none, as in failed samples. */
const engagements = ['unknown', 'engaged', 'empty', 'refusal'] as const;
export type RowEngagement = (typeof engagements)[number];

export interface Observation {
  /** The helpfulness outcome of a graded sample. */
  state: RowState;
  engagement?: RowEngagement;
  counts?: Counts;
}

/**
 * One row of small integers for each record, some 60 bytes in all, so that a million records fit in memory and every
 * rate can be worked out over any group of rows.
 */
export class ObservationTable {
  private readonly columns: Record<ColumnName, IntColumn>;
  private readonly state = new IntColumn();
  private readonly engagement = new IntColumn();
  private readonly cluster = new IntColumn();
  private readonly clusters = new IdTable();
  private readonly sample = new IntColumn();
  private readonly samples = new IdTable();
  private readonly repeat = new IntColumn();
  /** Items of samples without a grade, plus one; 0 where a sample has a grade or where nobody knows. */
  private readonly hidden: Record<Side, IntColumn> = { secret: new IntColumn(), field: new IntColumn() };
  private readonly most: Record<Side, number> = { secret: 0, field: 0 };
  private readonly tags = new Map<string, TagColumn>();
  size = 0;

  constructor() {
    const made = columnNames.map((name) => [name, new IntColumn()] as const);
    this.columns = Object.fromEntries(made) as Record<ColumnName, IntColumn>;
  }

  add(record: SampleRecord, { state, engagement = 'unknown', counts = noCounts() }: Observation): void {
    for (const name of columnNames) this.columns[name].push(counts[name]);
    this.state.push(states.indexOf(state));
    this.engagement.push(engagements.indexOf(engagement));
    this.cluster.push(this.clusters.idOf(record.cluster));
    this.sample.push(this.samples.idOf(record.sample_id));
    this.repeat.push(record.repeat);
    const graded = state !== 'failed' && state !== 'unreadable';
    for (const side of sides) {
      const known = graded ? undefined : record.to_judge?.[`${side}s`];
      this.hidden[side].push(known === undefined ? 0 : known + 1);
      const items = counts[`${side}_yes`] + counts[`${side}_no`] + counts[`${side}_open`];
      this.most[side] = Math.max(this.most[side], items);
    }
    this.addTags(record.tags);
    this.size += 1;
  }

  /** Takes in the rows of another table, as if their records had been added here. */
  merge(other: ObservationTable): void {
    for (const name of columnNames) this.columns[name].append(other.columns[name]);
    this.state.append(other.state);
    this.engagement.append(other.engagement);
    this.repeat.append(other.repeat);
    const clusters = this.clusters.adopt(other.clusters);
    const samples = this.samples.adopt(other.samples);
    for (const side of sides) {
      this.hidden[side].append(other.hidden[side]);
      this.most[side] = Math.max(this.most[side], other.most[side]);
    }
    const named = [...other.tags].map(([name, { ids, column }]) => ({ name, column, names: [...ids.keys()] }));
    for (let row = 0; row < other.size; row++) {
      this.cluster.push(clusters[other.cluster.at(row)] as number);
      this.sample.push(samples[other.sample.at(row)] as number);
      const tags = named.map(({ name, column, names }) => [name, names[column.at(row)]] as const);
      this.addTags(Object.fromEntries(tags.filter(([, value]) => value !== NO_VALUE)) as Record<string, string>);
      this.size += 1;
    }
  }

  private addTags(tags: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(tags)) {
      let tag = this.tags.get(name);
      if (!tag) {
        if (this.tags.size === MAX_TAGS) continue;
        tag = {
          ids: new Map([
            [NO_VALUE, 0],
            [OTHER_VALUES, 1],
          ]),
          column: new IntColumn(),
        };
        while (tag.column.length < this.size) tag.column.push(0);
        this.tags.set(name, tag);
      }
      let id = tag.ids.get(value);
      if (id === undefined) {
        id = tag.ids.size < MAX_TAG_VALUES + 2 ? tag.ids.size : 1;
        if (id !== 1) tag.ids.set(value, id);
      }
      tag.column.push(id);
    }
    for (const { column } of this.tags.values()) if (column.length === this.size) column.push(0);
  }

  get clusterCount(): number {
    return this.clusters.size;
  }

  get sampleCount(): number {
    return this.samples.size;
  }

  /** The three columns of a family; looked up once for many rows. */
  family(family: Family): Record<Outcome, IntColumn> {
    const { columns } = this;
    return { yes: columns[`${family}_yes`], no: columns[`${family}_no`], open: columns[`${family}_open`] };
  }

  column(name: ColumnName): IntColumn {
    return this.columns[name];
  }

  /** Whether the sample gave a grade. */
  isGraded(row: number): boolean {
    return this.state.at(row) >= 2;
  }

  helpful(row: number): Outcome {
    return states[this.state.at(row)] as Outcome;
  }

  engagementOf(row: number): RowEngagement {
    return engagements[this.engagement.at(row)] as RowEngagement;
  }

  /**
   * How many secrets or fields a sample without a grade holds: what its record says, or else as many as the largest
   * graded sample. 0 for a sample with a grade.
   */
  hiddenItems(row: number, side: Side): number {
    if (this.isGraded(row)) return 0;
    const known = this.hidden[side].at(row);
    return known > 0 ? known - 1 : this.most[side];
  }

  clusterOf(row: number): number {
    return this.cluster.at(row);
  }

  repeatOf(row: number): number {
    return this.repeat.at(row);
  }

  /** Whether two rows are of one sample. */
  sameSample(a: number, b: number): boolean {
    return this.sample.at(a) === this.sample.at(b) && this.cluster.at(a) === this.cluster.at(b);
  }

  /**
   * Rows with each cluster's together, and within it each sample's by repeat, in an order that depends on what the rows
   * hold and not on when they came: so no result depends on the order of records, not even in its last bit.
   */
  rowsInOrder(): Uint32Array {
    const clusters = this.clusters.ranks();
    const samples = this.samples.ranks();
    const { field_yes, field_no, clean_field_yes, clean_field_no } = this.columns;
    const tie = [field_yes, field_no, clean_field_yes, clean_field_no, this.state];
    const rows = Uint32Array.from({ length: this.size }, (_, row) => row);
    return rows.sort((a, b) => {
      const place =
        (clusters[this.cluster.at(a)] as number) - (clusters[this.cluster.at(b)] as number) ||
        (samples[this.sample.at(a)] as number) - (samples[this.sample.at(b)] as number) ||
        this.repeat.at(a) - this.repeat.at(b);
      if (place !== 0) return place;
      for (const column of tie) {
        const difference = column.at(a) - column.at(b);
        if (difference !== 0) return difference;
      }
      return 0;
    });
  }

  /** For each tag by name, each of its values by name with its rows, in the order of `rows`. */
  groups(rows: Uint32Array): { tag: string; values: { value: string; rows: Uint32Array }[] }[] {
    return [...this.tags].sort(byName).map(([tag, { ids, column }]) => ({
      tag,
      values: [...ids]
        .map(([value, id]) => ({ value, rows: rows.filter((row) => column.at(row) === id) }))
        .filter((group) => group.rows.length > 0)
        .sort((a, b) => byName([a.value], [b.value])),
    }));
  }
}

const byName = (a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]) =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
