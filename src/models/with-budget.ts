import type { Meter } from '../contracts/call.ts';
import { BudgetError } from '../contracts/model.ts';
import { HeamsError, throwIfAny } from '../lib/errors.ts';
import type { ModelSettings } from '../schema/model-settings.ts';
import type { BudgetLimits } from '../schema/run-file.ts';
import type { StageUsage } from '../schema/usage.ts';
import type { ModelCall } from './model-call.ts';
import { findPrice } from './prices.ts';

/** What a run has spent so far. Only these of a stage's counts matter to a budget. */
export type BudgetSpent = Pick<StageUsage, 'calls' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'unpriced_calls'>;

/** One run's purse. Every model of the run draws on the same one. */
export interface Budget {
  /** What is spent so far, earlier sittings of the run included. */
  readonly spent: Readonly<BudgetSpent>;
  /** Takes in what earlier sittings of the run have spent. */
  add(spent: Partial<BudgetSpent>): void;
  /** Lets a call go ahead; throws `BudgetError` when a limit is reached. */
  begin(): OpenCall;
}

/** A call that has begun. It holds one of `max_calls` until it is booked as a call or ends without an answer. */
export interface OpenCall {
  book(spent: Partial<BudgetSpent>): void;
  end(): void;
}

/**
 * A run's budget. `max_calls` is exact. Tokens and cost are known
 * only when a call is over, so calls in flight when a limit is reached still finish and may go beyond it.
 */
export function createBudget(limits: BudgetLimits): Budget {
  const spent: BudgetSpent = { calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0, unpriced_calls: 0 };
  const add = (more: Partial<BudgetSpent>) => {
    for (const key of Object.keys(spent) as (keyof BudgetSpent)[]) spent[key] += more[key] ?? 0;
  };
  let held = 0;
  return {
    spent,
    add,
    begin() {
      const reached = limitReached(limits, spent, held);
      if (reached !== undefined) throw new BudgetError(reached);
      held++;
      let holding = true;
      const end = () => {
        if (holding) held--;
        holding = false;
      };
      const book = (more: Partial<BudgetSpent>) => {
        if (more.calls) end();
        add(more);
      };
      return { book, end };
    },
  };
}

function limitReached(limits: BudgetLimits, spent: BudgetSpent, held: number): string | undefined {
  const { max_calls, max_tokens, max_cost_usd } = limits;
  const tokens = spent.input_tokens + spent.output_tokens;
  if (max_calls !== undefined && spent.calls + held >= max_calls) {
    return `the budget of ${max_calls} model calls is used up`;
  }
  if (max_tokens !== undefined && tokens >= max_tokens) {
    return `the budget of ${max_tokens} tokens is used up (${tokens} spent)`;
  }
  if (max_cost_usd === undefined) return undefined;
  if (spent.cost_usd >= max_cost_usd) {
    return `the budget of $${max_cost_usd} is used up ($${spent.cost_usd.toFixed(4)} spent)`;
  }
  if (spent.unpriced_calls === 0) return undefined;
  return 'a reply came without token counts, so max_cost_usd can no longer be kept: use max_calls or max_tokens instead';
}

/** Asks the budget before each call and books what the call spends, beside the sample's own meter. */
export function withBudget<I, O>(inner: ModelCall<I, O>, budget: Budget): ModelCall<I, O> {
  return async (request, call) => {
    const open = budget.begin();
    try {
      return await inner(request, { ...call, meter: bookTwice(call.meter, open) });
    } finally {
      open.end();
    }
  };
}

function bookTwice(meter: Meter, open: OpenCall): Meter {
  return {
    add(stage, spent) {
      open.book(spent);
      meter.add(stage, spent);
    },
  };
}

/** Throws for every model whose price is not known when the limits name a cost: that limit could not be kept. */
export function checkBudget(models: readonly ModelSettings[], limits: BudgetLimits): void {
  if (limits.max_cost_usd === undefined) return;
  const unknown = models.filter(({ model_id, base_url }) => findPrice(model_id, base_url) === undefined);
  throwIfAny(
    [...new Set(unknown.map(({ model_id }) => model_id))].map(
      (id) =>
        new HeamsError(`max_cost_usd cannot be kept with ${id}: its price is not known`, {
          code: 'unpriced_model',
          found: id,
          hint: 'limit the run with max_calls or max_tokens, and take max_cost_usd out',
        }),
    ),
  );
}
