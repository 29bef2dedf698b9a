import { seededRandom } from '../../lib/random.ts';
import type { CiGrade, Side } from '../../schema/ci-grade.ts';
import type { CiMetrics, SideExposure } from '../../schema/ci-metrics.ts';
import type { DoneRecord } from '../../schema/record.ts';
import { clusteredRate } from '../../stats/rate.ts';
import { TopList } from '../../stats/top-list.ts';
import { outcomeOf } from './metrics-observe.ts';
import { pooledRate, type RateScope, sumByCluster } from './metrics-rates.ts';

type Unrecalled = CiMetrics['exposure']['unrecalled_secrets'][number];
const LISTED = 25;

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** stored -> recalled -> disclosed, for both sides: tells a memory that kept a secret back from an agent that did. */
export class ExposureTally {
  private readonly unrecalled = { secret: 0, field: 0 };
  private readonly byText = { secret: 0, field: 0 };
  private readonly listed = new TopList<Unrecalled>(
    LISTED,
    (a, b) => compareText(a.sample_id, b.sample_id) || a.repeat - b.repeat || compareText(a.key, b.key),
  );

  add(record: DoneRecord, grade: CiGrade): void {
    for (const [side, items] of [
      ['secret', grade.secrets],
      ['field', grade.fields],
    ] as const) {
      for (const { key, value, exposure, verdicts } of items) {
        if (exposure.by === 'text') this.byText[side] += 1;
        if (exposure.recalled || outcomeOf(verdicts[grade.primary]) !== 'yes') continue;
        this.unrecalled[side] += 1;
        if (side === 'secret') this.listed.add({ sample_id: record.sample_id, repeat: record.repeat, key, value });
      }
    }
  }

  result(scope: RateScope): CiMetrics['exposure'] {
    return {
      secret: this.side('secret', scope),
      field: this.side('field', scope),
      unrecalled_secrets: [...this.listed.values],
    };
  }

  private side(side: Side, scope: RateScope): SideExposure {
    const total = (name: Parameters<typeof scope.table.column>[0]) => {
      const column = scope.table.column(name);
      let count = 0;
      for (const row of scope.rows) count += column.at(row);
      return count;
    };
    const stored = total(`${side}_stored`);
    const kept = total(`${side}_kept`);
    const disclosed = total(`${side}_yes`);
    const columns = [scope.table.column(`${side}_kept`), scope.table.column(`${side}_stored`)] as const;
    return {
      items: disclosed + total(`${side}_no`) + total(`${side}_open`),
      stored,
      recalled: total(`recalled_${side}_yes`) + total(`recalled_${side}_no`) + total(`recalled_${side}_open`),
      disclosed,
      recalled_given_stored: clusteredRate({
        sums: sumByCluster(scope, (row) => [columns[0].at(row), columns[1].at(row)]),
        unjudged: 0,
        failed: 0,
        bounds: { low: kept / stored, high: kept / stored },
        reason: 'nothing of this kind was stored',
        random: seededRandom(...scope.seed, `exposure.${side}.recalled`),
      }),
      disclosed_given_recalled: nothingRecalled(pooledRate(scope, `recalled_${side}`, `exposure.${side}.disclosed`)),
      disclosed_unrecalled: this.unrecalled[side],
      by_text: this.byText[side],
    };
  }
}

function nothingRecalled(rate: SideExposure['disclosed_given_recalled']): SideExposure['disclosed_given_recalled'] {
  if (rate.defined || rate.unjudged > 0) return rate;
  return { ...rate, reason: 'nothing of this kind was recalled' };
}
