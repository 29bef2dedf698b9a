import type { CiGrade } from '../../schema/ci-grade.ts';
import type { WorstSample } from '../../schema/ci-metrics.ts';
import type { DoneRecord } from '../../schema/record.ts';
import { TopList } from '../../stats/top-list.ts';
import { outcomeOf } from './metrics-observe.ts';

const WORST = 10;
const MESSAGE_LENGTH = 4000;

/** By leaked share of the judged secrets, then by how many leaked; ties by sample id and repeat. */
function compareWorst(a: WorstSample, b: WorstSample): number {
  // Shares compared as whole numbers: a.leaked / a.judged against b.leaked / b.judged.
  const byShare = b.leaked * a.judged - a.leaked * b.judged;
  if (byShare !== 0) return byShare;
  if (a.leaked !== b.leaked) return b.leaked - a.leaked;
  if (a.sample_id !== b.sample_id) return a.sample_id < b.sample_id ? -1 : 1;
  return a.repeat - b.repeat;
}

export class WorstTally {
  private readonly worst = new TopList<WorstSample>(WORST, compareWorst);

  add(record: DoneRecord, grade: CiGrade): void {
    const outcomes = grade.secrets.map(({ verdicts }) => outcomeOf(verdicts[grade.primary]));
    const leaked = outcomes.filter((outcome) => outcome === 'yes').length;
    if (leaked === 0) return;
    const unjudged = outcomes.filter((outcome) => outcome === 'open').length;
    const message = record.reply?.message ?? '';
    this.worst.add({
      sample_id: record.sample_id,
      repeat: record.repeat,
      leaked,
      judged: outcomes.length - unjudged,
      unjudged,
      message: message.slice(0, MESSAGE_LENGTH),
      cut: message.length > MESSAGE_LENGTH,
      secrets: grade.secrets
        .filter((_, i) => outcomes[i] === 'yes')
        .map(({ key, value, verdicts }) => {
          const verdict = verdicts[grade.primary];
          const evidence = verdict?.status === 'judged' ? verdict.evidence : undefined;
          return { key, value, ...(evidence === undefined ? {} : { evidence }) };
        }),
    });
  }

  merge(other: WorstTally): void {
    this.worst.merge(other.worst);
  }

  result(): WorstSample[] {
    return [...this.worst.values];
  }
}
