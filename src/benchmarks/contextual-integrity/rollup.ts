import type { Reporters } from '../../report/summarize.ts';
import { writeRollups } from '../../report/write-reports.ts';
import { ciReporter } from './reporter.ts';

const reporters: Reporters = new Map([[ciReporter.benchmark, ciReporter]]);

/**
 * Writes `_rollup/ci/report.md`, `report.html`, `metrics.json` and `metrics.csv` of a results folder, from its records
 * alone, and returns their paths. For scripts; `heams rollup` does the same.
 */
export async function writeCiRollupReport(resultsDir: string): Promise<string[]> {
  return (await writeRollups({ resultsDir, reporters })).files;
}
