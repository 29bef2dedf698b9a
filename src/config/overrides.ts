import { HeamsError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { Run } from './run.ts';

/** What the command line may change about a run without touching its files. */
export interface Overrides {
  limit?: number;
  experiments?: readonly string[];
  concurrency?: number;
  maxCostUsd?: number;
  maxFailures?: number;
}

/** The run with overrides applied. A name of an experiment that there is not is an error, and so is no name at all. */
export function withOverrides(run: Run, overrides: Overrides): Run {
  const { limit, experiments, concurrency, maxCostUsd, maxFailures } = overrides;
  const { settings, benchmark } = run;
  const names = run.arms.map((arm) => arm.name);
  if (experiments?.length === 0) {
    throw new HeamsError('no experiment is named', {
      code: 'unknown_experiment',
      where: { file: run.file },
      expected: `at least one of: ${names.join(', ')}`,
      found: 'nothing',
    });
  }
  for (const wanted of experiments ?? []) {
    if (names.includes(wanted)) continue;
    const meant = nearest(wanted, names);
    throw new HeamsError(`there is no experiment "${wanted}" in this run`, {
      code: 'unknown_experiment',
      where: { file: run.file },
      expected: `one of: ${names.join(', ')}`,
      found: wanted,
      ...(meant ? { hint: `did you mean "${meant}"?` } : {}),
    });
  }
  return {
    ...run,
    settings: {
      ...settings,
      concurrency: concurrency ?? settings.concurrency,
      budget: maxCostUsd === undefined ? settings.budget : { ...settings.budget, max_cost_usd: maxCostUsd },
      ...(maxFailures === undefined ? {} : { max_failures: maxFailures }),
    },
    benchmark:
      limit === undefined ? benchmark : { ...benchmark, options: benchmark.plugin.limited(benchmark.options, limit) },
  };
}
