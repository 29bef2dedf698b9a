import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { previousConfig } from '../config/written-config.ts';
import { readYamlFile } from '../config/yaml-file.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import type { CiGate } from '../schema/ci-gate.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

const configNames = z.looseObject({ experiments: z.array(z.looseObject({ name: z.string() })) });

export interface CheckOptions {
  max?: string[];
  min?: string[];
  experiments?: string[];
  on: 'interval' | 'point';
  against?: string;
  noWorseThan?: string[];
  allowUndefined?: boolean;
  allowUnjudged?: number;
  junit?: string;
  summary?: string;
  json?: boolean;
}

/** The experiments that the run's own config names; none where there is no such config, as beside imported records. */
async function plannedExperiments(dir: string): Promise<string[]> {
  const file = await previousConfig(dir).catch(() => undefined);
  if (file === undefined) return [];
  const parsed = configNames.safeParse((await readYamlFile(file)).data);
  return parsed.success ? parsed.data.experiments.map(({ name }) => name) : [];
}

async function decided(runFolder: string, options: CheckOptions, io: Io): Promise<CiGate> {
  const { parseLimits, parseMargins } = await import('../benchmarks/contextual-integrity/gate-limits.ts');
  const { checkRun } = await import('../benchmarks/contextual-integrity/gate.ts');
  const { against, noWorseThan = [], experiments } = options;
  if ((against === undefined) !== (noWorseThan.length === 0)) {
    throw new HeamsError('--against and --no-worse-than go together', {
      code: 'gate_bad_limit',
      found: against === undefined ? '--no-worse-than alone' : '--against alone',
      hint: 'as in --against results/last --no-worse-than 0.02',
    });
  }
  const limits = [...parseLimits('max', options.max ?? []), ...parseLimits('min', options.min ?? [])];
  const margins = parseMargins(noWorseThan, limits);
  const folder = (label: string) => ({ label, dir: resolve(io.cwd, label) });
  return checkRun({
    run: folder(runFolder),
    planned: await plannedExperiments(folder(runFolder).dir),
    limits,
    on: options.on,
    allowUndefined: options.allowUndefined === true,
    allowUnjudged: options.allowUnjudged ?? 0,
    ...(experiments ? { experiments } : {}),
    ...(against === undefined ? {} : { against: { run: folder(against), margins } }),
  });
}

/** Writes a file that a CI system reads. */
async function written(file: string, write: (file: string) => Promise<void>): Promise<void> {
  await write(file).catch((cause: unknown) => {
    throw new HeamsError(`cannot write the result of the gate: ${messageOf(cause)}`, {
      code: 'gate_write_failed',
      where: { file },
      hint: 'the folder must be there and writable',
      cause,
    });
  });
}

/** `heams check <run>`: exit code 0 where every check holds, 4 where one does not. */
export async function check(runFolder: string, options: CheckOptions, io: Io): Promise<number> {
  const gate = await decided(runFolder, options, io);
  const { gateDocument, gateHeadline, gateJunit, gateLines } = await import(
    '../benchmarks/contextual-integrity/gate-render.ts'
  );
  if (options.junit !== undefined) {
    await written(resolve(io.cwd, options.junit), (file) => writeFileWhole(file, gateJunit(gate)));
  }
  if (options.summary !== undefined) {
    const { renderMarkdown } = await import('../report/render-markdown.ts');
    // Other steps of the same job write to the same page.
    await written(resolve(io.cwd, options.summary), (file) =>
      appendFile(file, `\n${renderMarkdown(gateDocument(gate))}`),
    );
  }
  if (options.json) io.out(JSON.stringify(gate));
  else {
    for (const line of textTable(gateLines(gate).map((row) => row.map(safeTerminal)))) io.out(line);
    io.out(gateHeadline(gate));
  }
  return gate.passed ? exit.done : exit.gate;
}
