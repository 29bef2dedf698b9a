import { relative, resolve } from 'node:path';
import { loadReporters } from '../config/registry.ts';
import type { SummarizeOptions } from '../report/summarize.ts';
import { type WrittenReports, writeExperimentReports, writeRollups } from '../report/write-reports.ts';
import { exit, type Io } from './io.ts';

export interface ReportOptions {
  resultsDir: string;
  experiments?: string[];
  json?: boolean;
  mask?: boolean;
}

function print({ files, empty }: WrittenReports, options: ReportOptions, io: Io): number {
  if (options.json) io.out(JSON.stringify({ files, empty }));
  else for (const file of files) io.out(relative(io.cwd, file) || file);
  if (empty.length > 0) io.note(`No record yet: ${empty.join(', ')}`);
  return exit.done;
}

async function what(options: ReportOptions, io: Io): Promise<SummarizeOptions> {
  const { experiments } = options;
  return {
    resultsDir: resolve(io.cwd, options.resultsDir),
    reporters: await loadReporters(),
    ...(experiments ? { experiments } : {}),
    mask: options.mask === true,
  };
}

/** `heams generate-report` */
export async function generateReport(options: ReportOptions, io: Io): Promise<number> {
  return print(await writeExperimentReports(await what(options, io)), options, io);
}

/** `heams rollup` */
export async function rollup(options: ReportOptions, io: Io): Promise<number> {
  return print(await writeRollups(await what(options, io)), options, io);
}
