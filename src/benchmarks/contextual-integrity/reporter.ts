import type { Reporter } from '../../contracts/reporter.ts';
import type { CiMetrics, CiRollup } from '../../schema/ci-metrics.ts';
import type { Json } from '../../schema/json.ts';
import { maskMetrics } from './mask-metrics.ts';
import { createCiMetrics } from './metrics.ts';
import { ciReport } from './report.ts';
import { rollupCsv } from './rollup-csv.ts';
import { ciRollup, summaryRows } from './rollup-document.ts';
import { scaleOf } from './scale.ts';

/** The resamplings' seed: fixed, so that the same records give the same report, digit for digit. */
const BOOTSTRAP_SEED = 0;

export const ciReporter: Reporter<CiMetrics> = {
  benchmark: 'contextual_integrity',
  rollupFolder: 'ci',
  accumulate: () => createCiMetrics({ bootstrapSeed: BOOTSTRAP_SEED }),
  report: ciReport,
  rollup(arms, empty) {
    const json: CiRollup = { version: 2, arms: [...arms], scale: scaleOf(arms) };
    // Metrics are plain data; only their type is narrower than Json's.
    return { document: ciRollup(arms, empty), json: json as unknown as Json, csv: rollupCsv(arms) };
  },
  masked: maskMetrics,
  summaryRows,
};
