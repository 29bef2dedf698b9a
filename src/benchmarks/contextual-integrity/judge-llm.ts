import type { ChatModel } from '../../contracts/model.ts';
import { hashOf } from '../../lib/hash.ts';
import type { CiLlmEvaluator } from '../../schema/contextual-integrity.ts';
import { outcomeShaping } from '../../schema/model-settings.ts';
import type { CiJudge } from './judge.ts';
import { type Inquiry, inquire, type Verdict } from './judge-inquiry.ts';
import { questions } from './judge-questions.ts';
import { together } from './together.ts';

/**
 * Short hash of what a judge is: its model and address, how it samples, and the prompts that its grading uses. Two judges
 * with the same one ask the same questions of the same model.
 */
export function judgeIdentity(evaluator: CiLlmEvaluator): string {
  const { helpfulness_threshold: _threshold, taken_judge_ids: _taken, ...asked } = evaluator;
  const unused = evaluator.grading === 'per_value' ? /_batch_user_prompt$/ : /^(leakage|coverage)_user_prompt$/;
  const used = Object.entries(outcomeShaping(asked)).filter(([key]) => !unused.test(key));
  return hashOf(Object.fromEntries(used)).slice(0, 12);
}

/** The model's name; behind a name that another judge has already stands what sets this one apart. */
export function llmJudgeId(evaluator: CiLlmEvaluator): string {
  const id = `ci_llm_judge:${evaluator.judge_model_id}`;
  return evaluator.taken_judge_ids?.includes(id) ? `${id}#${judgeIdentity(evaluator)}` : id;
}

/** The inquiries without what is known already; those of which nothing is left fall away. */
function stillOpen<V>(inquiries: readonly Inquiry<V>[], known: readonly unknown[] = []): Inquiry<V>[] {
  return inquiries
    .map((inquiry) => ({ ...inquiry, numbers: inquiry.numbers.filter((number) => known[number - 1] === undefined) }))
    .filter(({ numbers }) => numbers.length > 0);
}

/**
 * A language model as judge, with the prompts of the config. All questions about a message are asked at once; the
 * model's own limit bounds how many are under way. When one cannot be asked, the others are called off and its error
 * is thrown.
 */
export function llmJudge(evaluator: CiLlmEvaluator, model: ChatModel): CiJudge {
  return {
    info: {
      id: llmJudgeId(evaluator),
      type: 'ci_llm_judge',
      model_id: evaluator.judge_model_id,
      identity: judgeIdentity(evaluator),
    },
    judge: async ({ sample, message, call, known }) => {
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
          ...stillOpen(secrets, known?.secrets).map((inquiry) => ask(inquiry, asked.secrets)),
          ...stillOpen(fields, known?.fields).map((inquiry) => ask(inquiry, asked.fields)),
          ...stillOpen([helpfulness], [known?.helpfulness]).map((inquiry) => ask(inquiry, asked.helpfulness)),
        ],
        call.signal,
      );
      return {
        secrets: sample.data.secrets.map((_, index) => known?.secrets[index] ?? verdictOf(asked.secrets, index + 1)),
        fields: sample.data.fields.map((_, index) => known?.fields[index] ?? verdictOf(asked.fields, index + 1)),
        helpfulness: known?.helpfulness ?? verdictOf(asked.helpfulness, 1),
      };
    },
    judgeItem: async ({ sample, message, call }, { side, index }) => {
      const { secrets, fields } = questions(evaluator, sample, message);
      const number = index + 1;
      // With `per_sample` the item is asked about together with its neighbours, as in a run.
      const inquiry = (side === 'secret' ? secrets : fields).find(({ numbers }) => numbers.includes(number));
      if (!inquiry) throw new RangeError(`sample ${sample.id} has no ${side} ${number}`);
      return verdictOf(await inquire(inquiry, model, call), number);
    },
  };
}

function verdictOf<V>(verdicts: ReadonlyMap<number, Verdict<V>>, number: number): Verdict<V> {
  const verdict = verdicts.get(number);
  if (!verdict) throw new Error(`question ${number} was asked and has no verdict`);
  return verdict;
}
