import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/lib/shipped.ts';

export interface JudgedRunOptions {
  baseUrl: string;
  /** Where the scenarios come from; the bundled ones unless another is named. */
  dataset?: object;
  concurrency?: number;
  maxConnections?: number;
  timeoutS?: number;
  memory?: object;
  extra?: object;
}

/** The files of a run whose agent and judge are models on a loopback server, with the prompts that HEAMS ships. */
export async function judgedRunFiles(options: JudgedRunOptions): Promise<Record<string, object>> {
  const { baseUrl, dataset = { bundled: 'heams_scenarios' }, concurrency = 64, maxConnections = 64 } = options;
  const { timeoutS = 30, memory = { backend: 'full_context' }, extra = {} } = options;
  const shipped = join(packageRoot(), 'configs/benchmarks/bundled/contextual_integrity.yaml');
  const benchmark = parse(await readFile(shipped, 'utf8')) as { evaluator: object };
  const model = { base_url: baseUrl, timeout_s: timeoutS };
  return {
    'configs/runs/judged.yaml': {
      name: 'judged',
      benchmark_config_file: 'judged.yaml',
      concurrency,
      max_connections: maxConnections,
      ...extra,
      experiments: [{ name: 'arm', agent_config_file: 'agent.yaml', memory_config_file: 'memory.yaml' }],
    },
    'configs/benchmarks/judged.yaml': {
      ...benchmark,
      dataset,
      evaluator: { ...benchmark.evaluator, judge_model_id: 'openai-compatible:judge', ...model },
    },
    'configs/agents/agent.yaml': {
      kind: 'llm',
      model_id: 'openai-compatible:agent',
      memory_strategy: 'inject',
      instructions: 'You write messages. What you remember:\n{{ memories }}',
      ...model,
    },
    'configs/memory/memory.yaml': memory,
  };
}
