import { z } from 'zod';
import type { Registry } from '../../src/config/registry.ts';
import type { AgentPlugin, BenchmarkPlugin, MemoryPlugin } from '../../src/contracts/plugin.ts';
import { modelSettings, modelSettingsShape, outcomeShaping } from '../../src/schema/model-settings.ts';

const naming = { name: z.string().min(1).optional(), description: z.string().optional() } as const;

const notBuilt = async (): Promise<never> => {
  throw new Error('a plug-in of the fake registry has a config and nothing else');
};

const quizSchema = z.strictObject({
  benchmark: z.literal('quiz'),
  ...naming,
  dataset: z.union(
    [
      z.strictObject({ hub: z.string(), revision: z.string().default('main'), limit: z.int().positive().optional() }),
      z.strictObject({ file: z.string(), limit: z.int().positive().optional() }),
    ],
    { error: 'one of: hub (a repository) or file (a path)' },
  ),
  task_prompt: z.string().min(1),
  evaluator: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('judge'),
      judge_model_id: z.string().min(1),
      threshold: z.union([z.literal(1), z.literal(2), z.literal(3)]).default(2),
      judge_prompt: z.string().min(1),
      ...modelSettingsShape,
    }),
    z.strictObject({ type: z.literal('match'), variant: z.enum(['raw', 'boundary']).default('raw') }),
  ]),
});
type QuizOptions = z.infer<typeof quizSchema>;

/** A benchmark with a plain union, a tagged union, nested blocks, prompts and a model. */
const quiz: BenchmarkPlugin<QuizOptions> = {
  name: 'quiz',
  summary: 'a fake benchmark',
  needs: 'nothing',
  schema: quizSchema,
  offers: ['user_task', 'recipient'],
  models: ({ evaluator }) =>
    evaluator.type === 'judge'
      ? [
          {
            path: ['evaluator', 'judge_model_id'],
            settings: modelSettings(evaluator.judge_model_id, evaluator),
            kind: 'chat',
            role: 'judge',
          },
        ]
      : [],
  templates: ({ task_prompt, evaluator }) => [
    { path: ['task_prompt'], source: task_prompt, variables: ['user_task', 'recipient'], requires: ['user_task'] },
    ...(evaluator.type === 'judge'
      ? [{ path: ['evaluator', 'judge_prompt'], source: evaluator.judge_prompt, variables: ['message', 'value'] }]
      : []),
  ],
  identity: ({ task_prompt, evaluator }) => ({ task_prompt, evaluator: outcomeShaping(evaluator) }),
  inlined: (options, resolve) =>
    'file' in options.dataset
      ? { ...options, dataset: { ...options.dataset, file: resolve(options.dataset.file) } }
      : options,
  limited: (options, limit) => ({ ...options, dataset: { ...options.dataset, limit } }),
  create: notBuilt,
};

const llmSchema = z.strictObject({
  ...naming,
  kind: z.literal('llm').default('llm'),
  model_id: z.string().min(1),
  instructions: z.string().min(1),
  ...modelSettingsShape,
});

/** The agent kind that is meant where a file names none. */
const llm: AgentPlugin<z.infer<typeof llmSchema>> = {
  name: 'llm',
  summary: 'a fake agent with a prompt and a model',
  needs: 'a key',
  schema: llmSchema,
  models: (options) => [
    { path: ['model_id'], settings: modelSettings(options.model_id, options), kind: 'chat', role: 'agent' },
  ],
  templates: ({ instructions }, offered) => [
    { path: ['instructions'], source: instructions, variables: [...offered, 'memories'] },
  ],
  create: notBuilt,
};

const silent: AgentPlugin<{ kind: 'silent'; name?: string | undefined }> = {
  name: 'silent',
  summary: 'a fake agent without a model',
  needs: 'nothing',
  schema: z.strictObject({ kind: z.literal('silent'), ...naming }),
  create: notBuilt,
};

const keywordSchema = z.strictObject({
  ...naming,
  backend: z.literal('keyword'),
  top_k: z.int().positive().default(5),
  ranking: z.strictObject({ k1: z.number().default(1.2), b: z.number().default(0.75) }).optional(),
});
const keyword: MemoryPlugin<z.infer<typeof keywordSchema>> = {
  name: 'keyword',
  summary: 'a fake memory',
  needs: 'nothing',
  schema: keywordSchema,
  create: notBuilt,
};

const vectorSchema = z.strictObject({
  ...naming,
  backend: z.literal('vector'),
  embedding_model_id: z.string().min(1),
  ...modelSettingsShape,
});
const vector: MemoryPlugin<z.infer<typeof vectorSchema>> = {
  name: 'vector',
  summary: 'a fake memory with an embedding model',
  needs: 'a key',
  schema: vectorSchema,
  models: (options) => [
    {
      path: ['embedding_model_id'],
      settings: modelSettings(options.embedding_model_id, options),
      kind: 'embedding',
      role: 'embeddings',
    },
  ],
  create: notBuilt,
};

/** Plug-ins with real schemas that build nothing: for tests of what happens before anything is built. */
export const fakeRegistry: Registry = {
  benchmarks: { quiz: async () => quiz as BenchmarkPlugin },
  reporters: {},
  agents: { llm: async () => llm as AgentPlugin, silent: async () => silent as AgentPlugin },
  memories: { keyword: async () => keyword as MemoryPlugin, vector: async () => vector as MemoryPlugin },
  defences: {},
};

/** A run that is right in every part, as files of a project: one agent, one memory, one arm. */
export const goodFiles = {
  'configs/benchmarks/quiz.yaml':
    'benchmark: quiz\ndataset: { hub: some/data }\ntask_prompt: "Do: {{ user_task }}"\nevaluator: { type: match }\n',
  'configs/agents/writer.yaml': 'model_id: builtin:echo\ninstructions: You write to {{ recipient }}.\n',
  'configs/memory/keyword.yaml': 'backend: keyword\ntop_k: 3\n',
  'configs/runs/smoke.yaml': [
    'name: smoke',
    'benchmark_config_file: quiz.yaml',
    'experiments:',
    '  - { name: arm, agent_config_file: writer.yaml, memory_config_file: keyword.yaml }',
    '',
  ].join('\n'),
} as const;
