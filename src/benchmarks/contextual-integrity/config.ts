import type { ModelUse, TemplateUse } from '../../contracts/plugin.ts';
import type { CiConfig, CiLlmEvaluator } from '../../schema/contextual-integrity.ts';
import { type ModelSettings, modelSettings, modelSettingsShape, outcomeShaping } from '../../schema/model-settings.ts';
import { sampleVariables } from './judge-questions.ts';

/** How the judge of a config is reached. */
export const judgeSettings = (evaluator: CiLlmEvaluator) => modelSettings(evaluator.judge_model_id, evaluator);

/**
 * One evaluator for each judge model, the primary one first: all with the same prompts, each with its own model's
 * settings. A further judge inherits no setting of the primary one, not even its address.
 */
export function evaluatorsOf(evaluator: CiLlmEvaluator): [CiLlmEvaluator, ...CiLlmEvaluator[]] {
  const { extra_judges: extra = [], decision: _decision, ...primary } = evaluator;
  const shared = Object.entries(primary).filter(([key]) => !Object.hasOwn(modelSettingsShape, key));
  const further = extra.map((settings) => ({ ...Object.fromEntries(shared), ...settings }) as CiLlmEvaluator);
  return [primary, ...further];
}

export function modelsOf({ evaluator }: CiConfig): ModelUse[] {
  if (evaluator.type !== 'ci_llm_judge') return [];
  const [primary, ...extra] = evaluatorsOf(evaluator).map(judgeSettings);
  const use = { kind: 'chat', role: 'judge' } as const;
  return [
    { ...use, path: ['evaluator', 'judge_model_id'], settings: primary as ModelSettings },
    ...extra.map((settings, i) => ({ ...use, path: ['evaluator', 'extra_judges', i, 'judge_model_id'], settings })),
  ];
}

export function templatesOf(config: CiConfig): TemplateUse[] {
  const stimulus: TemplateUse = {
    path: ['user_task_prompt'],
    source: config.user_task_prompt,
    variables: sampleVariables,
    requires: ['user_task'],
  };
  return [stimulus, ...(config.evaluator.type === 'ci_llm_judge' ? judgeTemplates(config.evaluator) : [])];
}

const itemVariables = ['attribute', 'value', 'full_value'];

/** A system prompt goes with every question of its kind, so with `per_sample` it cannot speak of one item. */
function judgeTemplates(evaluator: CiLlmEvaluator): TemplateUse[] {
  const base = [...sampleVariables, 'message'];
  const one = [...base, ...itemVariables];
  const all = [...base, 'items'];
  const systemUses = evaluator.grading === 'per_sample' ? all : one;
  const use = (key: keyof CiLlmEvaluator, variables: string[], requires: string[] = []): TemplateUse[] => {
    const source = evaluator[key];
    return typeof source === 'string' ? [{ path: ['evaluator', key], source, variables, requires }] : [];
  };
  return [
    ...use('leakage_system_prompt', systemUses),
    ...use('leakage_user_prompt', one, ['value', 'message']),
    ...use('leakage_batch_user_prompt', all, ['items', 'message']),
    ...use('coverage_system_prompt', systemUses),
    ...use('coverage_user_prompt', one, ['value', 'message']),
    ...use('coverage_batch_user_prompt', all, ['items', 'message']),
    ...use('helpfulness_system_prompt', base),
    ...use('helpfulness_user_prompt', base, ['message']),
  ];
}

/**
 * What of a config can change an outcome. The dataset is not in it: the hash of its content and of every sample say
 * more than where it came from, and a limit on the number of samples changes none of them.
 */
export function identityOf({ benchmark, user_task_prompt, haystack, sessions, evaluator }: CiConfig): unknown {
  const shaping = outcomeShaping(evaluator);
  // 0 is what an absent key says, so it must not make another run of the same one.
  const own = { benchmark, user_task_prompt, ...(haystack ? { haystack } : {}), ...(sessions ? { sessions } : {}) };
  if (evaluator.type !== 'ci_llm_judge' || !evaluator.extra_judges) return { ...own, evaluator: shaping };
  const extra = evaluator.extra_judges.map(outcomeShaping);
  return { ...own, evaluator: { ...shaping, extra_judges: extra } };
}

/** The config as it reads from another folder. */
export function inlinedConfig(config: CiConfig, resolve: (path: string) => string): CiConfig {
  if (!('file' in config.dataset)) return config;
  return { ...config, dataset: { ...config.dataset, file: resolve(config.dataset.file) } };
}

export function limitedConfig(config: CiConfig, limit: number): CiConfig {
  const { limit: _, ...dataset } = config.dataset;
  return { ...config, dataset: limit === Number.POSITIVE_INFINITY ? dataset : { ...dataset, limit } };
}
