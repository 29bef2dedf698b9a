import {
  type CiDatasetContext,
  hubRequest,
  loadCiSamples,
  locateCiDataset,
} from '../benchmarks/contextual-integrity/dataset.ts';
import { type CiDatasetDescription, describeSamples } from '../benchmarks/contextual-integrity/describe-samples.ts';
import { rowWarnings } from '../benchmarks/contextual-integrity/row-warnings.ts';
import { checkRow, ciColumns, duplicateId, sampleOf } from '../benchmarks/contextual-integrity/rows.ts';
import type { CiSample } from '../benchmarks/contextual-integrity/sample.ts';
import { fetchFromHub } from '../datasets/hub.ts';
import { findCached } from '../datasets/hub-cache.ts';
import { scanRows } from '../datasets/read-rows.ts';
import { HeamsError, type Where } from '../lib/errors.ts';
import type { CiDatasetConfig } from '../schema/contextual-integrity.ts';
import type { DatasetManifest } from '../schema/dataset-manifest.ts';
import type { Json } from '../schema/json.ts';

export interface DataOptions extends CiDatasetContext {
  dataset: CiDatasetConfig;
}

export interface DataIo {
  out(line: string): void;
}

export interface DataFetchResult {
  /** Whether it came over the network now, or was in the cache. */
  downloaded: boolean;
  file: string;
  manifest: DatasetManifest;
}

/** `heams data fetch`: the configured dataset is in the cache afterwards. `refresh` asks the hub again in any case. */
export async function dataFetch(options: DataOptions & { refresh?: boolean }, io: DataIo): Promise<DataFetchResult> {
  const { dataset } = options;
  if (!('hub' in dataset)) {
    throw new HeamsError('this dataset is on this machine already: there is nothing to fetch', {
      code: 'dataset_not_on_hub',
      expected: 'a dataset with "hub: owner/name"',
      found: 'file' in dataset ? `file: ${dataset.file}` : `bundled: ${dataset.bundled}`,
    });
  }
  const result = await fetchFromHub({ ...hubRequest(dataset, options), refresh: options.refresh ?? false });
  io.out(`${result.downloaded ? 'Fetched' : 'In the cache already'}: ${result.file}`);
  for (const line of manifestLines(result.manifest)) io.out(line);
  return result;
}

export interface DataInfoResult {
  file: string;
  source: { [key: string]: Json };
  manifest?: DatasetManifest;
  content: CiDatasetDescription;
}

/** `heams data info`: what the dataset is and holds. Never touches the network. */
export async function dataInfo(options: DataOptions, io: DataIo): Promise<DataInfoResult> {
  const manifest = await cachedManifest(options);
  const { file, source } = await locateCiDataset(options.dataset, options);
  const { samples } = await loadCiSamples(options.dataset, options);
  const content = describeSamples(samples);
  io.out(`File: ${file}`);
  for (const line of manifest ? manifestLines(manifest) : [`  sha256 ${String(source.sha256)}`]) io.out(line);
  for (const line of contentLines(content)) io.out(line);
  return { file, source, ...(manifest === undefined ? {} : { manifest }), content };
}

async function cachedManifest(options: DataOptions): Promise<DatasetManifest | undefined> {
  if (!('hub' in options.dataset)) return undefined;
  const cached = await findCached(hubRequest(options.dataset, options));
  if (cached) return cached.manifest;
  throw new HeamsError(`${options.dataset.hub} is not in the cache`, {
    code: 'dataset_not_cached',
    where: { file: options.cacheDir },
    hint: 'run "heams data fetch" first',
  });
}

export interface DataProblem {
  code: string;
  message: string;
  where?: Where;
  expected?: string;
  found?: string;
  hint?: string;
}

export interface DataValidateResult {
  file: string;
  /** Rows that were read, and how many of them are good. */
  rows: number;
  good: number;
  problems: DataProblem[];
  /** What is likely a mistake in good rows, though they can be run. */
  warnings: DataProblem[];
  /** What the good rows hold. */
  content: CiDatasetDescription;
}

/** Warnings that are printed; all of them are in the result. */
const SHOWN_WARNINGS = 10;

function warningLines(warnings: readonly HeamsError[]): string[] {
  const rest = warnings.length - SHOWN_WARNINGS;
  return [
    ...warnings.slice(0, SHOWN_WARNINGS).map((warning) => `Warning: ${warning.describe()}`),
    ...(rest > 0 ? [`and ${count(rest, 'more warning')}: --json lists them all`] : []),
  ];
}

/**
 * `heams data validate`: reads the whole dataset, whatever its `limit`, and lists every problem. The caller exits with
 * "bad input" when there is one; a warning is none.
 */
export async function dataValidate(options: DataOptions, io: DataIo): Promise<DataValidateResult> {
  const { file } = await locateCiDataset(options.dataset, options);
  const problems: HeamsError[] = [];
  const warnings: HeamsError[] = [];
  const report = (errors: readonly HeamsError[]) => {
    problems.push(...errors);
    for (const error of errors) io.out(error.describe());
  };
  let rows = 0;
  const good: CiSample[] = [];
  const seen = new Map<string, number>();
  try {
    for await (const scanned of scanRows(file, { columns: ciColumns, signal: options.signal })) {
      rows++;
      const { row, where } = scanned;
      if (scanned.status === 'bad') {
        report([scanned.error]);
        continue;
      }
      const checked = checkRow(scanned.value, row, where);
      if (checked.status === 'bad') {
        report(checked.errors);
        continue;
      }
      const duplicate = duplicateId(checked.id, row, { seen, where });
      if (duplicate) {
        report([duplicate]);
        continue;
      }
      const sample = sampleOf(checked.row, checked.id, options.seed);
      warnings.push(...rowWarnings({ row: checked.row, sample, index: row, where }));
      good.push(sample);
    }
  } catch (error) {
    // What is wrong with the file as a whole is one more problem to list.
    if (!(error instanceof HeamsError)) throw error;
    report([error]);
  }
  const content = describeSamples(good);
  for (const line of warningLines(warnings)) io.out(line);
  const warned = warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')}`;
  io.out(`${file}: ${count(rows, 'row')}, ${good.length} good, ${count(problems.length, 'problem')}${warned}`);
  if (problems.length === 0) for (const line of contentLines(content)) io.out(line);
  return {
    file,
    rows,
    good: good.length,
    problems: problems.map(toProblem),
    warnings: warnings.map(toProblem),
    content,
  };
}

function toProblem({ code, message, where, expected, found, hint }: HeamsError): DataProblem {
  return {
    code,
    message,
    ...(where === undefined ? {} : { where }),
    ...(expected === undefined ? {} : { expected }),
    ...(found === undefined ? {} : { found }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function manifestLines(manifest: DatasetManifest): string[] {
  return [
    `  repository ${manifest.repository}, ${manifest.path}`,
    `  revision   ${manifest.revision} (asked for: ${manifest.requested_revision})`,
    `  sha256     ${manifest.sha256}`,
    `  size       ${count(manifest.rows, 'row')}, ${count(manifest.bytes, 'byte')}`,
    `  fetched    ${manifest.fetched_at}`,
  ];
}

function contentLines(content: CiDatasetDescription): string[] {
  const { nested, shared_seeds: shared } = content;
  return [
    `${count(content.rows, 'row')}, ${count(content.facts, 'fact')}, ${count(content.allowed, 'allowed value')}, ${count(content.disallowed, 'disallowed value')}`,
    `  nested values      ${nested.values}${rowList(nested.rows)}`,
    `  keys on both sides ${count(content.both_sides.length, 'row')}${rowList(content.both_sides)}`,
    `  equal values       ${count(content.equal_values.length, 'row')} with a disallowed value that equals an allowed one`,
    `  shared seeds       ${count(shared.groups, 'group')} over ${count(shared.rows, 'row')}`,
    `  domains            ${tally(content.domains)}`,
    `  principles         ${tally(content.transmission_principles)}`,
    `  scenarios          ${tally(content.scenarios)}`,
  ];
}

const count = (n: number, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`;

const rowList = (rows: readonly number[]) => {
  if (rows.length === 0) return '';
  return ` (rows ${rows.slice(0, 20).join(' ')}${rows.length > 20 ? ' ...' : ''})`;
};

const tally = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, n]) => `${name} ${n}`)
    .join(', ');
