import { join, resolve } from 'node:path';
import { loadBenchmark } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import { HeamsError } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { type CiDatasetConfig, ciConfigSchema } from '../schema/contextual-integrity.ts';
import { configPath } from './config-path.ts';
import { type DataOptions, dataFetch, dataInfo, dataValidate } from './data.ts';
import { hostOf } from './host.ts';
import { exit, type Io } from './io.ts';

export interface DataCommandOptions {
  config?: string;
  file?: string;
  refresh?: boolean;
  json?: boolean;
}

/** The dataset of the full campaign, for whoever names no other. */
const DEFAULT_CONFIG = 'configs/benchmarks/full_campaign/contextual_integrity.yaml';

interface Meant {
  dataset: CiDatasetConfig;
  resolve(path: string): string;
}

/** The dataset that the options mean: a file, that of a config, or the published one. */
async function meantBy(options: DataCommandOptions, io: Io): Promise<Meant> {
  if (options.file !== undefined) return { dataset: { file: options.file }, resolve: (path) => resolve(io.cwd, path) };
  const component = await loadBenchmark(configPath(options.config ?? DEFAULT_CONFIG, io.cwd), builtinRegistry);
  const config = ciConfigSchema.safeParse(component.options);
  if (!config.success) {
    throw new HeamsError('this benchmark has no dataset of scenarios', {
      code: 'dataset_unknown',
      where: { file: component.file },
    });
  }
  return { dataset: config.data.dataset, resolve: (path) => resolve(component.file, '..', path) };
}

export async function dataOptions(options: DataCommandOptions, io: Io): Promise<DataOptions> {
  const { env, clock, folders } = hostOf(io);
  return {
    ...(await meantBy(options, io)),
    seed: 0,
    env,
    clock,
    cacheDir: join(folders.datasets, 'contextual_integrity'),
    bundledDir: join(folders.shipped, 'heams_scenarios'),
    signal: new AbortController().signal,
  };
}

/** Lines for a person; nothing but the result for a program. */
export const linesFor = (options: DataCommandOptions, io: Io) => ({
  out: (line: string) => {
    if (!options.json) io.out(line.split('\n').map(safeTerminal).join('\n'));
  },
});

/** `heams data fetch` */
export async function fetchCommand(options: DataCommandOptions, io: Io): Promise<number> {
  const data = await dataOptions(options, io);
  const result = await dataFetch({ ...data, refresh: options.refresh === true }, linesFor(options, io));
  if (options.json) io.out(JSON.stringify(result));
  return exit.done;
}

/** `heams data info` */
export async function infoCommand(options: DataCommandOptions, io: Io): Promise<number> {
  const result = await dataInfo(await dataOptions(options, io), linesFor(options, io));
  if (options.json) io.out(JSON.stringify(result));
  return exit.done;
}

/** `heams data validate`: bad input when a single row is bad. */
export async function validateCommand(options: DataCommandOptions, io: Io): Promise<number> {
  const result = await dataValidate(await dataOptions(options, io), linesFor(options, io));
  if (options.json) io.out(JSON.stringify(result));
  return result.problems.length > 0 ? exit.badInput : exit.done;
}
