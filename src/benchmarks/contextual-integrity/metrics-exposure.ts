import { addCounts } from '../../lib/add-counts.ts';
import { seededRandom } from '../../lib/random.ts';
import type { CiGrade, GradedItem, Side } from '../../schema/ci-grade.ts';
import type { CiMetrics, SideExposure } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';
import type { DoneRecord } from '../../schema/record.ts';
import { clusteredRate } from '../../stats/rate.ts';
import { TopList } from '../../stats/top-list.ts';
import { type ColumnName, outcomeOf } from './metrics-observe.ts';
import { familyTally, hiddenItems, pooledRate, type RateScope, sumByCluster } from './metrics-rates.ts';

type Unrecalled = SideExposure['unrecalled'][number];
type Basis = keyof SideExposure['by'];

const LISTED = 25;
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** What is not told by counts alone: which items were disclosed though never recalled, and what exposure rests on. */
class SideTally {
  disclosedUnrecalled = 0;
  withheld = 0;
  readonly by: Record<Basis, number> = { provenance: 0, text: 0, unknown: 0 };
  readonly listed = new TopList<Unrecalled>(
    LISTED,
    (a, b) => compareText(a.sample_id, b.sample_id) || a.repeat - b.repeat || compareText(a.key, b.key),
  );

  add({ sample_id, repeat }: DoneRecord, { key, value, exposure, verdicts }: GradedItem, primary: string): void {
    const { by, recalled, withheld } = exposure;
    this.by[by] += 1;
    if (withheld) this.withheld += 1;
    const verdict = verdicts[primary];
    if (recalled !== false || outcomeOf(verdict) !== 'yes') return;
    this.disclosedUnrecalled += 1;
    const evidence = verdict?.status === 'judged' ? verdict.evidence : undefined;
    this.listed.add({ sample_id, repeat, key, value, by, ...(evidence === undefined ? {} : { evidence }) });
  }

  merge(other: SideTally): void {
    this.disclosedUnrecalled += other.disclosedUnrecalled;
    this.withheld += other.withheld;
    addCounts(this.by, other.by);
    this.listed.merge(other.listed);
  }
}

/** stored -> recalled -> disclosed, for both sides: tells a memory that kept a secret back from an agent that did. */
export class ExposureTally {
  private readonly tallies: Record<Side, SideTally> = { secret: new SideTally(), field: new SideTally() };

  add(record: DoneRecord, grade: CiGrade): void {
    for (const item of grade.secrets) this.tallies.secret.add(record, item, grade.primary);
    for (const item of grade.fields) this.tallies.field.add(record, item, grade.primary);
  }

  merge(other: ExposureTally): void {
    this.tallies.secret.merge(other.tallies.secret);
    this.tallies.field.merge(other.tallies.field);
  }

  result(scope: RateScope): CiMetrics['exposure'] {
    return { secret: this.side('secret', scope), field: this.side('field', scope) };
  }

  private side(side: Side, scope: RateScope): SideExposure {
    const { disclosedUnrecalled, withheld, listed, by } = this.tallies[side];
    const all = familyTally(scope, side);
    const recalled = familyTally(scope, `recalled_${side}`);
    return {
      items: all.yes + all.no + all.open,
      stored: total(scope, `${side}_stored`),
      recalled: recalled.yes + recalled.no + recalled.open,
      disclosed: all.yes,
      recalled_share: recalledShare(scope, side),
      recalled_given_stored: recalledGivenStored(scope, side),
      disclosed_given_recalled: nothingRecalled(
        pooledRate(scope, `recalled_${side}`, `exposure.${side}.disclosed`, `maybe_${side}`),
      ),
      withheld,
      disclosed_unrecalled: disclosedUnrecalled,
      unrecalled: [...listed.values],
      by: { ...by },
    };
  }
}

function total({ table, rows }: RateScope, name: ColumnName): number {
  const column = table.column(name);
  let count = 0;
  for (const row of rows) count += column.at(row);
  return count;
}

/** recalled / items of which it is known; the unknown, and the items of failed samples, go both ways in the bounds. */
function recalledShare(scope: RateScope, side: Side): Rate {
  const { table } = scope;
  const [all, recalled, maybe] = [
    table.family(side),
    table.family(`recalled_${side}`),
    table.family(`maybe_${side}`),
  ].map(
    ({ yes, no, open }) =>
      (row: number) =>
        yes.at(row) + no.at(row) + open.at(row),
  ) as [Count, Count, Count];
  const sum = (count: Count) => scope.rows.reduce((total, row) => total + count(row), 0);
  const [items, yes, unknown] = [sum(all), sum(recalled), sum(maybe)];
  const failed = hiddenItems(scope, side);
  return clusteredRate({
    sums: sumByCluster(scope, (row) => [recalled(row), all(row) - maybe(row)]),
    unjudged: unknown,
    failed,
    bounds: { low: yes / (items + failed), high: (yes + unknown + failed) / (items + failed) },
    reason: unknown > 0 ? `not known of any of ${unknown}` : 'there is nothing of this kind',
    random: seededRandom(...scope.seed, `exposure.${side}.recalled_share`),
  });
}

type Count = (row: number) => number;

/** kept / (kept + lost). An item of which it is not known whether it was stored, or recalled, may belong or not. */
function recalledGivenStored(scope: RateScope, side: Side): Rate {
  const kept = scope.table.column(`${side}_kept`);
  const lost = scope.table.column(`${side}_lost`);
  const [yes, no] = [total(scope, `${side}_kept`), total(scope, `${side}_lost`)];
  const all = familyTally(scope, side);
  const unknown = all.yes + all.no + all.open - yes - no - total(scope, `${side}_unstored`);
  const failed = hiddenItems(scope, side);
  const every = yes + no + unknown + failed;
  return clusteredRate({
    sums: sumByCluster(scope, (row) => [kept.at(row), kept.at(row) + lost.at(row)]),
    unjudged: unknown,
    failed,
    bounds: { low: yes / every, high: (yes + unknown + failed) / every },
    reason: unknown > 0 ? `not known of any of ${unknown}` : 'nothing of this kind was stored',
    random: seededRandom(...scope.seed, `exposure.${side}.recalled`),
  });
}

function nothingRecalled(rate: Rate): Rate {
  if (rate.defined || rate.unjudged > 0) return rate;
  return { ...rate, reason: 'nothing of this kind was recalled' };
}
