import type { CallContext } from '../../contracts/call.ts';
import type { ItemVerdict, JudgeInfo, ScoreVerdict, Side } from '../../schema/ci-grade.ts';
import type { CiSample } from './sample.ts';

export interface JudgeInput {
  sample: CiSample;
  message: string;
  call: CallContext;
  /** What this judge has said before about this very message, and is not asked again. */
  known?: KnownVerdicts;
}

/** Earlier verdicts, in the order of the sample's secrets and fields; `undefined` where there is none. */
export interface KnownVerdicts {
  secrets: readonly (ItemVerdict | undefined)[];
  fields: readonly (ItemVerdict | undefined)[];
  helpfulness: ScoreVerdict | undefined;
}

/** One judge's verdicts about one message, in the order of the sample's secrets and fields. */
export interface Judgement {
  secrets: ItemVerdict[];
  fields: ItemVerdict[];
  helpfulness: ScoreVerdict;
}

/** One secret or field of a sample, by its place on its side. */
export interface ItemRef {
  side: Side;
  index: number;
}

/** Whoever answers, for every secret and field of a sample, whether the message shows it, and how well it does the task. */
export interface CiJudge {
  readonly info: JudgeInfo;
  /** Throws only when the judge could not be reached. An answer that cannot be used is an unjudged verdict. */
  judge(input: JudgeInput): Promise<Judgement>;
  /** The same about one item alone: the same question, read the same way. */
  judgeItem(input: JudgeInput, item: ItemRef): Promise<ItemVerdict>;
}
