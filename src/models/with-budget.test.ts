import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { BudgetError } from '../contracts/model.ts';
import type { HeamsErrors } from '../lib/errors.ts';
import type { ModelCall } from './model-call.ts';
import { type BudgetSpent, checkBudget, createBudget, withBudget } from './with-budget.ts';

const spending =
  (spent: Partial<BudgetSpent>): ModelCall<string, string> =>
  async (request, call) => {
    call.meter.add(call.stage, { calls: 1, ...spent });
    return request;
  };

async function callsUntilStopped(call: ModelCall<string, string>): Promise<{ calls: number; error: unknown }> {
  for (let calls = 0; ; calls++) {
    try {
      await call('x', fakeCall());
    } catch (error) {
      return { calls, error };
    }
  }
}

describe('withBudget', () => {
  it.each([
    [{ max_calls: 3 }, {}, 3, 'the budget of 3 model calls is used up'],
    [
      { max_tokens: 100 },
      { input_tokens: 30, output_tokens: 10 },
      3,
      'the budget of 100 tokens is used up (120 spent)',
    ],
    [{ max_cost_usd: 1 }, { cost_usd: 0.4 }, 3, 'the budget of $1 is used up ($1.2000 spent)'],
    [{ max_cost_usd: 1 }, { unpriced_calls: 1 }, 1, 'a reply came without token counts'],
  ])('%j stops after calls of %j', async (limits, spent, expected, message) => {
    const { calls, error } = await callsUntilStopped(withBudget(spending(spent), createBudget(limits)));
    expect(calls).toBe(expected);
    expect(error).toBeInstanceOf(BudgetError);
    expect((error as BudgetError).message).toContain(message);
    expect((error as BudgetError).hint).toContain('run the same command again');
  });

  it('goes on from what earlier sittings spent', async () => {
    const budget = createBudget({ max_calls: 10 });
    budget.add({ calls: 8, input_tokens: 5 });
    expect((await callsUntilStopped(withBudget(spending({}), budget))).calls).toBe(2);
    expect(budget.spent).toMatchObject({ calls: 10, input_tokens: 5 });
  });

  it('is exact about calls however many start at once, and a failed call takes none', async () => {
    const budget = createBudget({ max_calls: 5 });
    const limited = withBudget(spending({}), budget);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => limited('x', fakeCall())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    const other = createBudget({ max_calls: 1 });
    const failing = withBudget(async () => Promise.reject(new Error('down')), other);
    await expect(failing('x', fakeCall())).rejects.toThrow('down');
    await expect(withBudget(spending({}), other)('x', fakeCall())).resolves.toBe('x');
  });

  it('books on the sample and on the run', async () => {
    const budget = createBudget({});
    const call = fakeCall({ stage: 'judge' });
    await withBudget(spending({ input_tokens: 7, cost_usd: 0.5 }), budget)('x', call);
    expect(call.spent.judge).toMatchObject({ calls: 1, input_tokens: 7, cost_usd: 0.5 });
    expect(budget.spent).toMatchObject({ calls: 1, input_tokens: 7, cost_usd: 0.5 });
  });
});

describe('checkBudget', () => {
  const models = [
    { model_id: 'openai:gpt-4o-mini' },
    { model_id: 'builtin:echo' },
    { model_id: 'openai-compatible:llama', base_url: 'http://localhost:11434/v1' },
    { model_id: 'openai:no-such-model' },
    { model_id: 'openai:no-such-model', seed: 1 },
  ];

  it('names each model once that a cost limit cannot hold', () => {
    let error: unknown;
    try {
      checkBudget(models, { max_cost_usd: 1 });
    } catch (thrown) {
      error = thrown;
    }
    expect((error as HeamsErrors).errors).toMatchObject([
      { code: 'unpriced_model', found: 'openai-compatible:llama' },
      { code: 'unpriced_model', found: 'openai:no-such-model' },
    ]);
  });

  it('asks for no price without a cost limit', () => {
    expect(() => checkBudget(models, { max_calls: 1, max_tokens: 1 })).not.toThrow();
    expect(() => checkBudget(models.slice(0, 2), { max_cost_usd: 1 })).not.toThrow();
  });
});
