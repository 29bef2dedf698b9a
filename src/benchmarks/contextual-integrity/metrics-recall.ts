import { seededRandom } from '../../lib/random.ts';
import type { RecallQuality } from '../../schema/ci-metrics.ts';
import type { Rate } from '../../schema/rate.ts';
import type { DoneRecord } from '../../schema/record.ts';
import { clusteredRate } from '../../stats/rate.ts';
import type { ColumnName } from './metrics-observe.ts';
import { type RateScope, sumByCluster } from './metrics-rates.ts';

/** More distinct values of k than this say nothing to a reader. */
const MAX_K = 20;

/** recall@k and precision@k of the searches, for the facts that hold an allowed value. */
export class RecallTally {
  private readonly ks = new Set<number>();

  add({ reply }: DoneRecord): void {
    for (const { requested_k } of reply?.recalls ?? []) {
      if (requested_k !== undefined && this.ks.size < MAX_K) this.ks.add(requested_k);
    }
  }

  merge(other: RecallTally): void {
    for (const k of other.ks) if (this.ks.size < MAX_K) this.ks.add(k);
  }

  result(scope: RateScope): RecallQuality {
    return {
      recall: shareOfFound(
        scope,
        ['wanted_found', 'wanted_facts'],
        'no agent searched a memory that names its sources',
      ),
      precision: shareOfFound(
        scope,
        ['items_wanted', 'items_found'],
        'no search brought an item that names its source',
      ),
      requested_k: [...this.ks].sort((a, b) => a - b),
    };
  }
}

/** A pooled share of two columns. A failed sample is taken to hide as much as the largest of the others shows. */
function shareOfFound(scope: RateScope, [above, below]: readonly [ColumnName, ColumnName], reason: string): Rate {
  const { table, rows } = scope;
  const [hits, of] = [table.column(above), table.column(below)];
  let [yes, all, most, hidden] = [0, 0, 0, 0];
  for (const row of rows) {
    yes += hits.at(row);
    all += of.at(row);
    most = Math.max(most, of.at(row));
    if (!table.isGraded(row)) hidden += 1;
  }
  const failed = hidden * most;
  return clusteredRate({
    sums: sumByCluster(scope, (row) => [hits.at(row), of.at(row)]),
    unjudged: 0,
    failed,
    bounds: { low: yes / (all + failed), high: (yes + failed) / (all + failed) },
    reason,
    random: seededRandom(...scope.seed, `recall.${above}`),
  });
}
