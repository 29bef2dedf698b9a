import type { AuditCase } from '../benchmarks/contextual-integrity/audit-judge-cases.ts';
import { evaluatorsOf } from '../benchmarks/contextual-integrity/config.ts';
import { questions } from '../benchmarks/contextual-integrity/judge-questions.ts';
import { priceOf } from '../models/prices.ts';
import { countText, plural } from '../report/format.ts';
import type { CiLlmEvaluator } from '../schema/contextual-integrity.ts';
import { exit, type Io } from './io.ts';
import type { AuditBench } from './judge-bench.ts';
import { textTable } from './table.ts';

/** For the estimate alone. */
const CHARACTERS_PER_TOKEN = 4;
const ANSWER_TOKENS = 120;

interface PlannedJudge {
  model_id: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Absent where the price is not known. */
  cost_usd?: number;
}

function plannedJudge(evaluator: CiLlmEvaluator, cases: readonly AuditCase[]): PlannedJudge {
  let characters = 0;
  let answers = 0;
  for (const { sample, item, message } of cases) {
    const { secrets, fields } = questions(evaluator, sample, message);
    const asked = (item.side === 'secret' ? secrets : fields).find(({ numbers }) => numbers.includes(item.index + 1));
    if (!asked) continue;
    for (const { content } of asked.request(asked.numbers).messages) characters += content.length;
    answers += asked.numbers.length;
  }
  const model_id = evaluator.judge_model_id;
  const input_tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  const output_tokens = answers * ANSWER_TOKENS;
  const cost = priceOf(model_id, input_tokens, output_tokens, evaluator.base_url);
  const planned = { model_id, calls: cases.length, input_tokens, output_tokens };
  return cost === undefined ? planned : { ...planned, cost_usd: cost };
}

/** `heams judge audit --dry-run`: how many messages, and what judging them would call and cost. Asks no model. */
export function planAudit(
  { config: { evaluator } }: AuditBench,
  cases: readonly AuditCase[],
  options: { json?: boolean },
  io: Io,
): number {
  const judges =
    evaluator.type === 'ci_llm_judge' ? evaluatorsOf(evaluator).map((one) => plannedJudge(one, cases)) : [];
  const samples = new Set(cases.map(({ sample }) => sample.id)).size;
  const withInjection = cases.filter(({ injection }) => injection !== undefined).length;
  if (options.json) {
    io.out(JSON.stringify({ samples, messages: cases.length, with_injection: withInjection, judges }));
    return exit.done;
  }
  io.out(
    `Plan: ${plural(cases.length, 'message')} from ${plural(samples, 'scenario')}, ${countText(withInjection)} of them with an injection`,
  );
  const rows = judges.map(({ model_id, calls, input_tokens, output_tokens, cost_usd }) => [
    model_id,
    countText(calls),
    countText(input_tokens),
    countText(output_tokens),
    cost_usd === undefined ? 'not known' : `$${cost_usd.toFixed(4)}`,
  ]);
  const head = ['judge', 'calls', 'tokens in (est.)', 'tokens out (est.)', 'cost (est.)'];
  for (const line of textTable([head, ...rows], new Set([1, 2, 3, 4]))) io.out(line);
  io.out('Nothing was started.');
  return exit.done;
}
