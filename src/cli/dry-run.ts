import { assemble } from '../config/assemble.ts';
import { checkModels, modelUses } from '../config/check-models.ts';
import { checkRequirements } from '../config/check-requirements.ts';
import type { Run } from '../config/run.ts';
import { priceOf } from '../models/prices.ts';
import { createBudget } from '../models/with-budget.ts';
import { planJobs } from '../run/plan-jobs.ts';
import { hostOf } from './host.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

interface PlannedModel {
  model_id: string;
  role: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Absent where the price is not known. */
  cost_usd?: number;
}

/** For the estimate alone: the length of a token, of an agent's instructions and of its message. */
const CHARACTERS_PER_TOKEN = 4;
const INSTRUCTION_TOKENS = 200;
const MESSAGE_TOKENS = 300;

/**
 * `heams run --dry-run`: the plan, what it would call, and what that would cost. Token counts are estimates (four
 * characters a token); an agent that calls tools makes more calls than the one counted here.
 */
export async function dryRun(run: Run, options: { experiments?: string[]; json?: boolean }, io: Io): Promise<number> {
  checkModels(run, io.env);
  checkRequirements(run, io.env);
  const assembly = await assemble(run, hostOf(io), { budget: createBudget({}), signal: new AbortController().signal });
  try {
    const { samples } = assembly.loaded;
    const arms = run.arms.filter((arm) => options.experiments?.includes(arm.name) ?? true);
    const jobs = planJobs({
      benchmark: assembly.benchmarkIdentity,
      arms: arms.map((arm) => ({ name: arm.name, identity: arm.name })),
      samples,
      repeats: run.settings.repeats,
      seed: run.settings.seed,
    });
    const uses = modelUses(run);
    const planned = new Map<string, PlannedModel>();
    const add = (more: PlannedModel) => {
      const key = `${more.role} ${more.model_id}`;
      const sum = planned.get(key) ?? { ...more, calls: 0, input_tokens: 0, output_tokens: 0 };
      sum.calls += more.calls;
      sum.input_tokens += more.input_tokens;
      sum.output_tokens += more.output_tokens;
      planned.set(key, sum);
    };
    const agentModels = new Map(
      arms.map((arm) => [arm.name, uses.filter((use) => use.component === arm.agent && use.kind === 'chat')]),
    );
    for (const job of jobs) {
      const prompt = assembly.benchmark.turns(job.sample).reduce((sum, turn) => sum + turn.content.length, 0);
      const facts = job.sample.facts.reduce((sum, fact) => sum + fact.text.length, 0);
      const input_tokens = Math.ceil((prompt + facts) / CHARACTERS_PER_TOKEN) + INSTRUCTION_TOKENS;
      for (const { settings } of agentModels.get(job.experiment) ?? []) {
        add({ model_id: settings.model_id, role: 'agent', calls: 1, input_tokens, output_tokens: MESSAGE_TOKENS });
      }
      for (const { modelId, calls, inputTokens, outputTokens } of assembly.benchmark.plannedCalls(job.sample)) {
        add({ model_id: modelId, role: 'judge', calls, input_tokens: inputTokens, output_tokens: outputTokens });
      }
    }
    const models = [...planned.values()].map((model) => {
      const baseUrl = uses.find(({ settings }) => settings.model_id === model.model_id)?.settings.base_url;
      const cost = priceOf(model.model_id, model.input_tokens, model.output_tokens, baseUrl);
      return cost === undefined ? model : { ...model, cost_usd: cost };
    });
    report(
      { jobs: jobs.length, samples: samples.length, arms: arms.map((arm) => arm.name), models },
      options.json === true,
      io,
    );
    return exit.done;
  } finally {
    await assembly.close();
  }
}

interface Plan {
  jobs: number;
  samples: number;
  arms: string[];
  models: PlannedModel[];
}

function report(plan: Plan, json: boolean, io: Io): void {
  const calls = plan.models.reduce((sum, model) => sum + model.calls, 0);
  const priced = plan.models.filter((model) => model.cost_usd !== undefined);
  const cost = priced.reduce((sum, model) => sum + (model.cost_usd ?? 0), 0);
  const complete = priced.length === plan.models.length;
  if (json) {
    io.out(JSON.stringify({ ...plan, calls, estimated_cost_usd: cost, all_models_priced: complete }));
    return;
  }
  io.out(
    `Plan: ${plan.jobs} samples to run (${plan.samples} samples, ${plan.arms.length} arms: ${plan.arms.join(', ')})`,
  );
  const rows = plan.models.map((model) => [
    model.role,
    model.model_id,
    String(model.calls),
    String(model.input_tokens),
    String(model.output_tokens),
    model.cost_usd === undefined ? 'not known' : `$${model.cost_usd.toFixed(4)}`,
  ]);
  const head = ['role', 'model', 'calls', 'tokens in (est.)', 'tokens out (est.)', 'cost (est.)'];
  for (const line of textTable([head, ...rows], new Set([2, 3, 4, 5]))) io.out(line);
  io.out(
    `${calls} calls, about $${cost.toFixed(4)}${complete ? '' : ' plus what has no known price'}. Nothing was started.`,
  );
}
