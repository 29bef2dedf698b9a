import { join } from 'node:path';
import { readArmConfig } from '../store/arm-config.ts';
import type { ExperimentFolder } from '../store/records.ts';
import type { Document } from './document.ts';
import { incompleteBlocks } from './incomplete.ts';
import { renderHtml } from './render-html.ts';
import { renderMarkdown } from './render-markdown.ts';
import { byReporter, type Summaries, type SummarizeOptions, summarize } from './summarize.ts';
import { writeFiles } from './write-files.ts';

/** What was written, and what there was nothing to write about. */
export interface WrittenReports {
  files: string[];
  /** Experiments that have no record yet. */
  empty: string[];
}

const writeAll = (dir: string, files: Readonly<Record<string, string>>): Promise<string[]> =>
  writeFiles(dir, files, {
    what: 'the report',
    code: 'report_write_failed',
    hint: 'mend the permissions or make room, and run the command again: reports are made from records alone',
  });

/** The document with what is missing from its experiments said before anything else. */
async function withIncomplete(document: Document, experiments: readonly ExperimentFolder[]): Promise<Document> {
  return { ...document, blocks: [...(await incompleteBlocks(experiments)), ...document.blocks] };
}

const rendered = (document: Document) => ({
  'report.md': renderMarkdown(document),
  'report.html': renderHtml(document),
});

/** Writes `report.md` and `report.html` beside the records of each experiment, each file whole or not at all. */
export async function writeExperimentReports(options: SummarizeOptions): Promise<WrittenReports> {
  return writeReportsOf(await summarize(options));
}

/** The same for metrics that are already at hand. */
export async function writeReportsOf({ summaries, empty }: Summaries): Promise<WrittenReports> {
  const files: string[] = [];
  for (const { experiment, reporter, metrics } of summaries) {
    const config = await readArmConfig(experiment.dir);
    const document = await withIncomplete(reporter.report(metrics, config), [experiment]);
    files.push(...(await writeAll(experiment.dir, rendered(document))));
  }
  return { files, empty: empty.map(({ name }) => name) };
}

/** Writes `_rollup/<folder>/report.md`, `report.html`, `metrics.json` and `metrics.csv` for each benchmark in the folder. */
export async function writeRollups(options: SummarizeOptions): Promise<WrittenReports> {
  return writeRollupsOf(options.resultsDir, await summarize(options));
}

/** The same for metrics that are already at hand. */
export async function writeRollupsOf(resultsDir: string, { summaries, empty }: Summaries): Promise<WrittenReports> {
  const emptyNames = empty.map(({ name }) => name);
  const files: string[] = [];
  for (const [reporter, group] of byReporter(summaries)) {
    const { document, json, csv } = reporter.rollup(
      group.map(({ metrics }) => metrics),
      emptyNames,
    );
    const experiments = group.map(({ experiment }) => experiment);
    const contents = {
      ...rendered(await withIncomplete(document, experiments)),
      'metrics.json': `${JSON.stringify(json, null, 2)}\n`,
      'metrics.csv': csv,
    };
    files.push(...(await writeAll(join(resultsDir, '_rollup', reporter.rollupFolder), contents)));
  }
  return { files, empty: emptyNames };
}
