import { gradingOf } from '../benchmarks/contextual-integrity/benchmark.ts';
import { modelsOf } from '../benchmarks/contextual-integrity/config.ts';
import type { Grading } from '../benchmarks/contextual-integrity/grade.ts';
import type { CiSample } from '../benchmarks/contextual-integrity/sample.ts';
import { type Host, pluginContext } from '../config/assemble.ts';
import { checkModels } from '../config/check-models.ts';
import { loadBenchmark } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import type { Component } from '../config/run.ts';
import type { BenchmarkPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Journal } from '../models/journal.ts';
import { type Budget, checkBudget } from '../models/with-budget.ts';
import { type CiConfig, ciConfigSchema } from '../schema/contextual-integrity.ts';
import type { Json } from '../schema/json.ts';

/** A benchmark's judges and samples, without any agent or memory. */
export interface AuditBench {
  component: Component<BenchmarkPlugin>;
  config: CiConfig;
  grading: Grading;
  samples: CiSample[];
  source: { [key: string]: Json };
  close(): Promise<void>;
}

export interface AuditBenchOptions {
  /** A benchmark file, or a run file that names one. */
  file: string;
  host: Host;
  seed: number;
  /** Requests in flight at once, where a judge's settings name no other number. */
  concurrency: number;
  budget: Budget;
  /** Whether the budget holds a cost, which needs a price for every model. */
  costLimited: boolean;
  journal: Journal;
  signal: AbortSignal;
}

/** Checks the benchmark's judges and keys, builds the judges, and loads the samples. */
export async function loadAuditBench(options: AuditBenchOptions): Promise<AuditBench> {
  const { host, seed, concurrency, budget, journal, signal } = options;
  const { env, clock, random } = host;
  const component = await loadBenchmark(options.file, builtinRegistry);
  const parsed = ciConfigSchema.safeParse(component.options);
  if (!parsed.success) {
    throw new HeamsError('this benchmark has no judges that HEAMS could audit', {
      code: 'audit_no_judge',
      where: { file: component.file },
      expected: 'benchmark: contextual_integrity',
    });
  }
  checkModels({ benchmark: component, arms: [] }, env);
  const models = modelsOf(parsed.data).map(({ settings }) => settings);
  if (options.costLimited) checkBudget(models, { max_cost_usd: 1 });
  const { createModelFactory } = await import('../models/create-models.ts');
  const factory = createModelFactory({ env, clock, random, maxConnections: concurrency, budget, journal });
  const context = pluginContext({ component, models: factory, host, seed });
  const grading = await gradingOf(parsed.data, context);
  const benchmark = await component.plugin.create(component.options, context);
  const { samples, source } = await benchmark.loadSamples(signal);
  return {
    component,
    config: parsed.data,
    grading,
    samples: samples as CiSample[],
    source,
    close: () => factory.close(),
  };
}
