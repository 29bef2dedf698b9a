import { resolve } from 'node:path';
import { loadBenchmark } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import { regradeRun } from '../config/regrade.ts';
import { responsesRun } from '../config/responses.ts';
import type { Run } from '../config/run.ts';
import { previousConfig } from '../config/written-config.ts';
import { HeamsError } from '../lib/errors.ts';
import { configPath } from './config-path.ts';
import type { Io } from './io.ts';
import { performRun } from './perform-run.ts';
import { tellEnd } from './run.ts';

export interface GradeOptions {
  /** The folder of the run whose messages are graded again. */
  run?: string;
  responses?: string;
  benchmark?: string;
  judge?: string;
  name?: string;
  allowMissing?: boolean;
  outputDir: string;
  limit?: number;
  concurrency?: number;
  maxCostUsd?: number;
  quiet?: boolean;
  json?: boolean;
}

const wrongUse = (message: string, hint: string): HeamsError => new HeamsError(message, { code: 'grade_usage', hint });

/** `heams grade`: stored messages of a run, or messages of any other system, become a run of their own. */
export async function grade(options: GradeOptions, io: Io): Promise<number> {
  const outputDir = resolve(io.cwd, options.outputDir);
  const run = await composed(options, outputDir, io);
  const performed = await performRun({ run, outputDir, quiet: options.quiet === true || options.json === true }, io);
  return tellEnd(performed, { ...options, resultsDir: options.outputDir }, io);
}

async function composed(options: GradeOptions, outputDir: string, io: Io): Promise<Run> {
  const { run, responses } = options;
  if (run !== undefined && responses === undefined) return ofRun(run, options, outputDir, io);
  if (responses !== undefined && run === undefined) return ofResponses(responses, options, io);
  throw wrongUse(
    'name what to grade: either the folder of a run, or a file of messages',
    'heams grade <run> ..., or heams grade --responses <file.jsonl> ...',
  );
}

async function ofResponses(file: string, options: GradeOptions, io: Io): Promise<Run> {
  const { benchmark, judge, name = 'external', allowMissing = false, ...rest } = options;
  if (judge !== undefined) {
    throw wrongUse('--judge goes with the folder of a run', 'name the judge in the benchmark file');
  }
  if (benchmark === undefined) {
    throw wrongUse('messages need the benchmark whose samples they answer', 'add --benchmark <file>');
  }
  return responsesRun({
    ...rest,
    file: resolve(io.cwd, file),
    benchmark: await loadBenchmark(configPath(benchmark, io.cwd), builtinRegistry),
    name,
    allowMissing,
    registry: builtinRegistry,
    signal: new AbortController().signal,
  });
}

async function ofRun(folder: string, options: GradeOptions, outputDir: string, io: Io): Promise<Run> {
  const { judge, name, ...rest } = options;
  if (name !== undefined) throw wrongUse('--name goes with --responses', 'the arms keep their names');
  const resultsDir = resolve(io.cwd, folder);
  if (resultsDir === outputDir) {
    throw wrongUse('a run cannot be graded into its own folder', 'choose another --output-dir: both stay readable');
  }
  return regradeRun({
    ...rest,
    ...(judge === undefined ? {} : { judgeModelId: judge }),
    resultsDir,
    benchmark: await loadBenchmark(await benchmarkFile(resultsDir, options, io), builtinRegistry),
    registry: builtinRegistry,
  });
}

/** The benchmark file that is named, or the one that the run was made with, as it is written out in its folder. */
async function benchmarkFile(resultsDir: string, { benchmark, judge }: GradeOptions, io: Io): Promise<string> {
  if (benchmark !== undefined) return configPath(benchmark, io.cwd);
  if (judge === undefined) {
    throw wrongUse('nothing would be graded otherwise than before', 'add --benchmark <file>, --judge <model>, or both');
  }
  const written = await previousConfig(resultsDir).catch(() => undefined);
  if (written !== undefined) return written;
  throw new HeamsError('this folder does not say which benchmark it was made with', {
    code: 'grade_no_benchmark',
    where: { file: resultsDir },
    expected: 'a run_config.<run_id>.yaml in it',
    found: 'none',
    hint: 'add --benchmark <file>',
  });
}
