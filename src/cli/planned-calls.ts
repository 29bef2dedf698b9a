import type { Assembly } from '../config/assemble.ts';
import { modelUses } from '../config/check-models.ts';
import type { Component, Run } from '../config/run.ts';
import type { MemoryBackend } from '../contracts/memory.ts';
import { priceOf } from '../models/prices.ts';
import type { Job } from '../run/plan-jobs.ts';
import type { Fact } from '../schema/record.ts';

export interface PlannedModel {
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

/** Characters of the facts that reach an agent: as many as are asked for, each of mean length. */
function factCharacters(facts: readonly Fact[], { topK, capabilities }: MemoryBackend): number {
  const all = facts.reduce((sum, { text }) => sum + text.length, 0);
  if (!capabilities.stores || facts.length === 0) return 0;
  return capabilities.honours_k ? all * Math.min(1, topK / facts.length) : all;
}

/**
 * What jobs would ask of each model, and what that would cost. Token counts are estimates (four characters a token). An
 * agent, a memory and a defence are each taken to make one call a sample with each model they name: one that calls tools,
 * asks again or goes fact by fact makes more.
 */
export function plannedCalls(run: Run, { benchmark, arms }: Assembly, jobs: readonly Job[]): PlannedModel[] {
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
  const chat = (component: Component | undefined) =>
    uses.filter((use) => use.component === component && use.kind === 'chat');
  const armModels = new Map(
    run.arms.map(({ name, agent, memory, defence }) => [
      name,
      [
        ...chat(agent).map((use) => ({ ...use, role: 'agent' })),
        ...chat(memory).map((use) => ({ ...use, role: 'memory' })),
        ...chat(defence).map((use) => ({ ...use, role: 'defence' })),
      ],
    ]),
  );
  const memories = new Map(arms.map(({ name, memory }) => [name, memory]));
  for (const { sample, experiment } of jobs) {
    const prompt = benchmark.turns(sample).reduce((sum, turn) => sum + turn.content.length, 0);
    const memory = memories.get(experiment);
    const facts = memory ? factCharacters(sample.facts, memory) : 0;
    const input_tokens = Math.ceil((prompt + facts) / CHARACTERS_PER_TOKEN) + INSTRUCTION_TOKENS;
    for (const { settings, role } of armModels.get(experiment) ?? []) {
      add({ model_id: settings.model_id, role, calls: 1, input_tokens, output_tokens: MESSAGE_TOKENS });
    }
    for (const { modelId, calls, inputTokens, outputTokens } of benchmark.plannedCalls(sample)) {
      add({ model_id: modelId, role: 'judge', calls, input_tokens: inputTokens, output_tokens: outputTokens });
    }
  }
  return [...planned.values()].map((model) => {
    const baseUrl = uses.find(({ settings }) => settings.model_id === model.model_id)?.settings.base_url;
    const cost = priceOf(model.model_id, model.input_tokens, model.output_tokens, baseUrl);
    return cost === undefined ? model : { ...model, cost_usd: cost };
  });
}
