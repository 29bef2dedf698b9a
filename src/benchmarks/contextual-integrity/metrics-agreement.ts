import { addCounts } from '../../lib/add-counts.ts';
import { type CiGrade, STRING_BOUNDARY, STRING_RAW } from '../../schema/ci-grade.ts';
import type { Agreement, CiMetrics } from '../../schema/ci-metrics.ts';
import { outcomeOf } from './metrics-observe.ts';
import { pooledRate, type RateScope } from './metrics-rates.ts';

const stringJudges = [
  { judge: STRING_RAW, family: 'raw' },
  { judge: STRING_BOUNDARY, family: 'boundary' },
] as const;

type Cells = Omit<Agreement, 'rate'>;
const noCells = (): Cells => ({ both_yes: 0, both_no: 0, primary_only: 0, string_only: 0, not_compared: 0 });

/** How the string judges' verdicts stand beside the primary judge's, item by item. */
export class AgreementTally {
  private readonly cells = stringJudges.map(({ judge }) => ({
    judge,
    secret: noCells(),
    field: noCells(),
    seen: false,
  }));

  add(grade: CiGrade): void {
    for (const row of this.cells) {
      for (const [side, items] of [
        ['secret', grade.secrets],
        ['field', grade.fields],
      ] as const) {
        for (const { verdicts } of items) {
          if (verdicts[row.judge]) row.seen = true;
          count(row[side], outcomeOf(verdicts[grade.primary]), outcomeOf(verdicts[row.judge]));
        }
      }
    }
  }

  merge(other: AgreementTally): void {
    for (const [i, row] of this.cells.entries()) {
      const added = other.cells[i];
      if (!added) continue;
      row.seen ||= added.seen;
      addCounts(row.secret, added.secret);
      addCounts(row.field, added.field);
    }
  }

  /** Only judges that gave a verdict at all. */
  result(scope: RateScope): CiMetrics['string_judges'] {
    return stringJudges.flatMap(({ judge, family }, i) => {
      const row = this.cells[i];
      if (!row?.seen) return [];
      const side = (side: 'secret' | 'field') => ({
        rate: pooledRate(scope, `${family}_${side}`, `${judge}.${side}`),
        ...row[side],
      });
      return [{ judge, secret: side('secret'), field: side('field') }];
    });
  }
}

function count(cells: Cells, primary: ReturnType<typeof outcomeOf>, string: ReturnType<typeof outcomeOf>): void {
  if (primary === 'open' || string === 'open') cells.not_compared += 1;
  else if (primary === string) cells[primary === 'yes' ? 'both_yes' : 'both_no'] += 1;
  else cells[primary === 'yes' ? 'primary_only' : 'string_only'] += 1;
}
