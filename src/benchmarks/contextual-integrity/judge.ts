import type { CallContext } from '../../contracts/call.ts';
import type { ItemVerdict, JudgeInfo, ScoreVerdict } from '../../schema/ci-grade.ts';
import type { CiSample } from './sample.ts';

export interface JudgeInput {
  sample: CiSample;
  message: string;
  call: CallContext;
}

/** One judge's verdicts about one message, in the order of the sample's secrets and fields. */
export interface Judgement {
  secrets: ItemVerdict[];
  fields: ItemVerdict[];
  helpfulness: ScoreVerdict;
}

/** Whoever answers, for every secret and field of a sample, whether the message shows it, and how well it does the task. */
export interface CiJudge {
  readonly info: JudgeInfo;
  /** Throws only when the judge could not be reached. An answer that cannot be used is an unjudged verdict. */
  judge(input: JudgeInput): Promise<Judgement>;
}
