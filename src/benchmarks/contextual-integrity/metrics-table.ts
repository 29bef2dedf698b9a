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

/**
 * One row of small integers for each record, some 40 bytes in all, so that a million records fit in memory and every
 * rate can be worked out over any group of rows.
 */
export class ObservationTable {
  private readonly columns: Record<ColumnName, IntColumn>;
  private readonly state = new IntColumn();
  private readonly emptyMessage = new IntColumn();
  private readonly cluster = new IntColumn();
  private readonly clusters = new IdTable();
  private readonly tags = new Map<string, TagColumn>();
  size = 0;

  constructor() {
    const made = columnNames.map((name) => [name, new IntColumn()] as const);
    this.columns = Object.fromEntries(made) as Record<ColumnName, IntColumn>;
  }

  /** `state` is the helpfulness outcome of a graded sample. */
  add(record: SampleRecord, state: RowState, counts: Counts = noCounts(), emptyMessage = false): void {
    for (const name of columnNames) this.columns[name].push(counts[name]);
    this.state.push(states.indexOf(state));
    this.emptyMessage.push(emptyMessage ? 1 : 0);
    this.cluster.push(this.clusters.idOf(record.cluster));
    this.addTags(record.tags);
    this.size += 1;
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

  hasEmptyMessage(row: number): boolean {
    return this.emptyMessage.at(row) === 1;
  }

  clusterOf(row: number): number {
    return this.cluster.at(row);
  }

  /**
   * Rows with each cluster's together, in an order that depends on what the rows hold and not on when they came: so no
   * result depends on the order of records, not even in its last bit.
   */
  rowsInOrder(): Uint32Array {
    const ranks = this.clusters.ranks();
    const { field_yes, field_no, clean_field_yes, clean_field_no } = this.columns;
    const tie = [field_yes, field_no, clean_field_yes, clean_field_no, this.state];
    const rows = Uint32Array.from({ length: this.size }, (_, row) => row);
    return rows.sort((a, b) => {
      const byCluster = (ranks[this.cluster.at(a)] as number) - (ranks[this.cluster.at(b)] as number);
      if (byCluster !== 0) return byCluster;
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
