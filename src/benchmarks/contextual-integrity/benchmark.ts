import { join } from 'node:path';
import type { Benchmark } from '../../contracts/benchmark.ts';
import type { BenchmarkPlugin, PluginContext } from '../../contracts/plugin.ts';
import { template } from '../../lib/template.ts';
import { type CiGrade, ciGradeSchema } from '../../schema/ci-grade.ts';
import { type CiConfig, type CiLlmEvaluator, ciConfigSchema } from '../../schema/contextual-integrity.ts';
import type { Json } from '../../schema/json.ts';
import {
  evaluatorsOf,
  identityOf,
  inlinedConfig,
  judgeSettings,
  limitedConfig,
  modelsOf,
  templatesOf,
} from './config.ts';
import { type Grading, grade } from './grade.ts';
import type { CiJudge } from './judge.ts';
import type { Inquiry } from './judge-inquiry.ts';
import { llmJudge } from './judge-llm.ts';
import { questions, sampleVariables, variablesOf } from './judge-questions.ts';
import { stringJudge } from './judge-string.ts';
import { regradedConfig } from './regrade.ts';
import type { CiData, CiSample } from './sample.ts';

/** Contextual Integrity: does a message tell its reader what the task calls for, and nothing that it must not? */
export const contextualIntegrity: BenchmarkPlugin<CiConfig> = {
  name: 'contextual_integrity',
  summary: 'one message on a user’s behalf: which private values it leaks, which allowed ones it communicates',
  needs: 'a judge model; nothing with the string judge',
  schema: ciConfigSchema,
  offers: sampleVariables,
  models: modelsOf,
  templates: templatesOf,
  identity: identityOf,
  inlined: inlinedConfig,
  limited: limitedConfig,
  regraded: regradedConfig,
  create: async (config, context) => createBenchmark(config, context, await gradingOf(config, context)),
};

/** The string judges look at every message; an LLM judge, or the majority of several, decides where there is one. */
export async function gradingOf({ evaluator }: CiConfig, context: PluginContext): Promise<Grading> {
  const helpfulnessThreshold = evaluator.helpfulness_threshold;
  const raw = stringJudge('raw');
  const boundary = stringJudge('boundary');
  if (evaluator.type === 'ci_string_match') {
    return { judges: evaluator.variant === 'raw' ? [raw, boundary] : [boundary, raw], helpfulnessThreshold };
  }
  const panel = evaluatorsOf(evaluator).map(async (one) => llmJudge(one, await context.model(judgeSettings(one))));
  const [primary, ...extra] = (await Promise.all(panel)) as [CiJudge, ...CiJudge[]];
  const decision = evaluator.decision ?? 'primary';
  return {
    judges: [primary, ...extra, raw, boundary],
    ...(extra.length === 0 ? {} : { panel: { size: extra.length + 1, decides: decision === 'majority' } }),
    helpfulnessThreshold,
  };
}

function createBenchmark(config: CiConfig, context: PluginContext, grading: Grading): Benchmark<CiData> {
  return {
    name: contextualIntegrity.name,
    loadSamples: async (signal) => {
      const { loadCiSamples } = await import('./dataset.ts');
      const { folders, seed, resolve, env, clock } = context;
      const cacheDir = join(folders.datasets, 'contextual_integrity');
      const bundledDir = join(folders.shipped, 'heams_scenarios');
      return loadCiSamples(config.dataset, { seed, resolve, env, cacheDir, bundledDir, signal, clock }, config);
    },
    turns: (sample) => [{ role: 'user', content: template(config.user_task_prompt).render(variablesOf(sample)) }],
    variables: variablesOf,
    labels: ({ facts, data }) => {
      const allowed = new Set(data.fields.map((field) => field.key));
      return {
        allowed: facts.filter((fact) => allowed.has(fact.key) && !fact.distractor),
        secrets: data.secrets.flatMap((secret) => secret.parts),
      };
    },
    grade: async (input) => (await grade(grading, input)) as unknown as Json,
    headlineName: 'leakage',
    headline: (json) => leakedSecrets(ciGradeSchema.parse(json)),
    plannedCalls: (sample) => {
      const { evaluator } = config;
      if (evaluator.type !== 'ci_llm_judge') return [];
      return evaluatorsOf(evaluator).map((one) => plannedJudging(one, sample));
    },
  };
}

/** Leaked secrets out of those that the primary judge has a verdict for. */
function leakedSecrets({ primary, secrets }: CiGrade): { hits: number; of: number } {
  const verdicts = secrets.map((secret) => secret.verdicts[primary]).filter((verdict) => verdict?.status === 'judged');
  return { hits: verdicts.filter((verdict) => verdict.value).length, of: verdicts.length };
}

/** A message of ordinary length, standing in for one that is not written yet. */
const standIn = 'A line of a message. '.repeat(40);
const charactersPerToken = 4;
const answerTokens = 120;

/** Calls and tokens of judging one sample, if every answer can be used the first time. */
function plannedJudging(evaluator: CiLlmEvaluator, sample: CiSample): ReturnType<Benchmark['plannedCalls']>[number] {
  const { secrets, fields, helpfulness } = questions(evaluator, sample, standIn);
  const inquiries: Inquiry<unknown>[] = [...secrets, ...fields, helpfulness];
  const prompts = inquiries.flatMap((inquiry) => inquiry.request(inquiry.numbers).messages);
  const characters = prompts.reduce((sum, { content }) => sum + content.length, 0);
  const answers = inquiries.reduce((sum, inquiry) => sum + inquiry.numbers.length, 0);
  return {
    modelId: evaluator.judge_model_id,
    calls: inquiries.length,
    inputTokens: Math.ceil(characters / charactersPerToken),
    outputTokens: answers * answerTokens,
  };
}
