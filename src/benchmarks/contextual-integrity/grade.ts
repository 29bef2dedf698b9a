import type { GradeInput } from '../../contracts/benchmark.ts';
import type { CiGrade, GradedItem, Side } from '../../schema/ci-grade.ts';
import { exposures } from './exposure.ts';
import type { CiJudge, Judgement } from './judge.ts';
import type { CiData, CiItem } from './sample.ts';

export interface Grading {
  /** Every judge that looks at a message; the metrics rest on the first. */
  judges: readonly [CiJudge, ...CiJudge[]];
  helpfulnessThreshold: 1 | 2 | 3;
}

/** Every judge's verdict about every secret and field of one sample, and how far each of them came. */
export async function grade({ judges, helpfulnessThreshold }: Grading, input: GradeInput<CiData>): Promise<CiGrade> {
  const { sample, reply, call } = input;
  const judged = await Promise.all(
    judges.map(async (judge) => ({
      id: judge.info.id,
      judgement: await judge.judge({ sample, message: reply.message, call }),
    })),
  );
  const exposureOf = exposures(input);
  const graded = (side: Side, items: readonly CiItem[], of: (judgement: Judgement) => Judgement['secrets']) =>
    items.map((item, index): GradedItem => {
      const verdicts = judged.map(({ id, judgement }) => [id, of(judgement)[index]]);
      return {
        key: item.key,
        value: item.value,
        exposure: exposureOf(item, side),
        verdicts: Object.fromEntries(verdicts),
      };
    });
  return {
    judges: judges.map((judge) => judge.info),
    primary: judges[0].info.id,
    helpfulness_threshold: helpfulnessThreshold,
    secrets: graded('secret', sample.data.secrets, (judgement) => judgement.secrets),
    fields: graded('field', sample.data.fields, (judgement) => judgement.fields),
    helpfulness: Object.fromEntries(judged.map(({ id, judgement }) => [id, judgement.helpfulness])),
  };
}
