import type { ChatModel } from '../../contracts/model.ts';
import type { CiLlmEvaluator } from '../../schema/contextual-integrity.ts';
import type { CiJudge } from './judge.ts';
import { type Inquiry, inquire, type Verdict } from './judge-inquiry.ts';
import { questions } from './judge-questions.ts';
import { together } from './together.ts';

const llmJudgeId = (evaluator: CiLlmEvaluator): string => `ci_llm_judge:${evaluator.judge_model_id}`;

/**
 * A language model as judge, with the prompts of the config. All questions about a message are asked at once; the
 * model's own limit bounds how many are under way. When one cannot be asked, the others are called off and its error
 * is thrown.
 */
export function llmJudge(evaluator: CiLlmEvaluator, model: ChatModel): CiJudge {
  return {
    info: { id: llmJudgeId(evaluator), type: 'ci_llm_judge', model_id: evaluator.judge_model_id },
    judge: async ({ sample, message, call }) => {
      const { secrets, fields, helpfulness } = questions(evaluator, sample, message);
      const asked = {
        secrets: new Map<number, Verdict<boolean>>(),
        fields: new Map<number, Verdict<boolean>>(),
        helpfulness: new Map<number, Verdict<0 | 1 | 2 | 3>>(),
      };
      const ask =
        <V>(inquiry: Inquiry<V>, into: Map<number, Verdict<V>>) =>
        async (signal: AbortSignal) => {
          for (const [number, verdict] of await inquire(inquiry, model, { ...call, signal })) into.set(number, verdict);
        };
      await together(
        [
          ...secrets.map((inquiry) => ask(inquiry, asked.secrets)),
          ...fields.map((inquiry) => ask(inquiry, asked.fields)),
          ask(helpfulness, asked.helpfulness),
        ],
        call.signal,
      );
      return {
        secrets: sample.data.secrets.map((_, index) => verdictOf(asked.secrets, index + 1)),
        fields: sample.data.fields.map((_, index) => verdictOf(asked.fields, index + 1)),
        helpfulness: verdictOf(asked.helpfulness, 1),
      };
    },
  };
}

function verdictOf<V>(verdicts: ReadonlyMap<number, Verdict<V>>, number: number): Verdict<V> {
  const verdict = verdicts.get(number);
  if (!verdict) throw new Error(`question ${number} was asked and has no verdict`);
  return verdict;
}
