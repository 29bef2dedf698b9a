import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { LoadedSamples } from '../../contracts/benchmark.ts';
import type { Clock } from '../../contracts/call.ts';
import { sha256OfFile } from '../../datasets/file-hash.ts';
import { type FetchRequest, fetchFromHub } from '../../datasets/hub.ts';
import { wrongHash } from '../../datasets/hub-errors.ts';
import { readRows } from '../../datasets/read-rows.ts';
import { HeamsError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { CiConfig, CiDatasetConfig } from '../../schema/contextual-integrity.ts';
import type { DatasetManifest } from '../../schema/dataset-manifest.ts';
import type { Json } from '../../schema/json.ts';
import { withPools } from './pool.ts';
import { ciColumns, duplicateId, toSample } from './rows.ts';
import type { CiData, CiSample } from './sample.ts';

export interface CiDatasetContext {
  /** Seeds the order of every sample's facts. */
  seed: number;
  /** Resolves a path of the benchmark file. */
  resolve(path: string): string;
  env: Readonly<Record<string, string | undefined>>;
  /** Where files from the hub are kept. */
  cacheDir: string;
  /** The folder with the scenarios that ship with HEAMS. */
  bundledDir: string;
  signal: AbortSignal;
  clock: Clock;
  onProgress?: (progress: { bytes: number; total: number }) => void;
}

/** A dataset file on this machine, and what is known about where it came from. */
export interface LocatedDataset {
  file: string;
  source: { [key: string]: Json };
}

/** What each sample's pool gets on top (`haystack`), and over how many sessions it is spread (`sessions`). */
export type CiPoolConfig = Pick<CiConfig, 'haystack' | 'sessions'>;

/**
 * Loads the samples in the file's order, the first `limit` of them where there is one. The first bad row ends it with
 * its error: a benchmark with rows left out is another benchmark. A haystack is made of the whole dataset, so with one
 * every row is read, whatever the limit: it does not change the pool of a sample.
 */
export async function loadCiSamples(
  config: CiDatasetConfig,
  context: CiDatasetContext,
  { haystack = 0, sessions = 0 }: CiPoolConfig = {},
): Promise<LoadedSamples<CiData>> {
  const { file, source } = await locateCiDataset(config, context);
  const limit = config.limit ?? Number.POSITIVE_INFINITY;
  const dataset: CiSample[] = [];
  const seen = new Map<string, number>();
  for await (const { row, where, value } of readRows(file, { columns: ciColumns, signal: context.signal })) {
    const sample = toSample(value, row, { seed: context.seed, where });
    const duplicate = duplicateId(sample.id, row, { seen, where });
    if (duplicate) throw duplicate;
    dataset.push(sample);
    if (dataset.length === limit && haystack === 0) break;
  }
  const samples = withPools(dataset.slice(0, limit), dataset, { haystack, sessions, seed: context.seed });
  const pool = { ...(haystack > 0 ? { haystack } : {}), ...(sessions > 0 ? { sessions } : {}) };
  return { samples, source: { ...source, samples: samples.length, ...pool } };
}

/**
 * Finds the dataset's file, fetching it from the hub where it is not in the cache. The source holds no path of this
 * machine, so that the same data are the same on another one.
 */
export async function locateCiDataset(config: CiDatasetConfig, context: CiDatasetContext): Promise<LocatedDataset> {
  if ('hub' in config) {
    const { file, manifest } = await fetchFromHub(hubRequest(config, context));
    return { file, source: hubSource(manifest) };
  }
  if ('bundled' in config) {
    const file = join(context.bundledDir, 'scenarios.jsonl');
    const sha256 = await hashOfLocal(file, context.signal);
    return { file, source: { kind: 'bundled', name: config.bundled, sha256 } };
  }
  const file = context.resolve(config.file);
  const sha256 = await hashOfLocal(file, context.signal);
  if (config.sha256 !== undefined && config.sha256 !== sha256) {
    throw wrongHash(file, { expected: config.sha256, found: sha256, by: 'the configuration' });
  }
  return { file, source: { kind: 'file', file: config.file, sha256 } };
}

type HubDatasetConfig = Extract<CiDatasetConfig, { hub: string }>;

export function hubRequest(config: HubDatasetConfig, context: CiDatasetContext): FetchRequest {
  const { hub: repo, revision, path, sha256 } = config;
  const { env, cacheDir, signal, clock, onProgress } = context;
  return {
    ...{ repo, revision, path, columns: ciColumns, env, cacheDir, signal, clock },
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}

function hubSource(manifest: DatasetManifest): LocatedDataset['source'] {
  const { repository, requested_revision, revision, path, sha256, bytes, rows } = manifest;
  return { kind: 'hub', repository, requested_revision, revision, path, sha256, bytes, rows };
}

async function hashOfLocal(file: string, signal: AbortSignal): Promise<string> {
  const entry = await stat(file).catch(() => undefined);
  if (entry?.isFile()) return sha256OfFile(file, signal);
  if (entry) throw notAFile(file, 'not a file', 'name a file in it');
  const siblings = await readdir(dirname(file)).catch(() => undefined);
  if (!siblings) throw notAFile(file, `no folder ${dirname(file)}`);
  const near = nearest(basename(file), siblings);
  throw notAFile(file, 'no such file', near && `did you mean ${join(dirname(file), near)}?`);
}

function notAFile(file: string, found: string, hint?: string): HeamsError {
  return new HeamsError('the dataset file is not there', {
    code: 'dataset_file_missing',
    where: { file },
    expected: 'a parquet, JSON or JSON Lines file',
    found,
    ...(hint === undefined ? {} : { hint }),
  });
}
