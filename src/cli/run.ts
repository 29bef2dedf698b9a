import { resolve } from 'node:path';
import { loadRun } from '../config/load-run.ts';
import { withOverrides } from '../config/overrides.ts';
import { builtinRegistry } from '../config/registry.ts';
import type { Shard } from '../run/shard.ts';
import { configPath } from './config-path.ts';
import { familyLines } from './family-note.ts';
import { exit, type Io } from './io.ts';
import { describeEnd, hasRecords, type Performed, performRun } from './perform-run.ts';
import { commandLine } from './self.ts';

export interface RunOptions {
  config: string;
  outputDir: string;
  limit?: number;
  experiments?: string[];
  concurrency?: number;
  maxCostUsd?: number;
  maxFailures?: number;
  shard?: Shard;
  dryRun?: boolean;
  quiet?: boolean;
  json?: boolean;
}

/** `heams run` */
export async function run(options: RunOptions, io: Io): Promise<number> {
  const loaded = await loadRun(configPath(options.config, io.cwd), builtinRegistry);
  const configured = withOverrides(loaded, options);
  if (!options.quiet) for (const line of familyLines(configured, options.experiments)) io.note(line);
  if (options.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    return dryRun(configured, { ...options, outputDir: resolve(io.cwd, options.outputDir) }, io);
  }
  const outputDir = resolve(io.cwd, options.outputDir);
  const performed = await performRun(
    { ...options, run: configured, outputDir, quiet: options.quiet === true || options.json === true },
    io,
  );
  return tellEnd(performed, { ...options, resultsDir: options.outputDir }, io);
}

/** Says how a run ended, and what to do next; as JSON where that is asked for. `resultsDir` is as the user wrote it. */
export async function tellEnd(
  performed: Performed,
  options: { resultsDir: string; quiet?: boolean; json?: boolean },
  io: Io,
): Promise<number> {
  const { executed, code, failures } = performed;
  if (options.json) {
    const { runId, outputDir, planned, resumed, statuses, stopped } = executed;
    io.out(
      JSON.stringify({
        run_id: runId,
        output_dir: outputDir,
        planned,
        resumed,
        ...(stopped ? { stop_reason: stopped.reason } : {}),
        experiments: statuses,
        failures,
        exit_code: code,
      }),
    );
    return code;
  }
  for (const line of describeEnd(performed, io)) io.out(line);
  if (!options.quiet && code !== exit.interrupted && hasRecords(executed)) {
    const { printSummary } = await import('./summary.ts');
    await printSummary(executed.outputDir, io);
    io.out('');
    io.out(`Next: ${commandLine(io, `generate-report --results-dir ${options.resultsDir}`)}`);
    io.out(`      ${commandLine(io, `rollup --results-dir ${options.resultsDir}`)}`);
    io.out(`      ${commandLine(io, `view ${options.resultsDir}`)}`);
  }
  return code;
}
