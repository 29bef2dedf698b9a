import { Option } from 'commander';
import type { CheckOptions } from './check.ts';
import type { CompareVerbOptions } from './compare.ts';
import type { ExportFiguresOptions } from './export-figures.ts';
import type { ExportHtmlOptions } from './export-html.ts';
import type { ExportTablesOptions } from './export-tables.ts';
import type { GradeOptions } from './grade.ts';
import type { ImportVerbOptions } from './import.ts';
import {
  folder,
  gathered,
  json,
  list,
  noWorseThan,
  positiveInteger,
  positiveNumber,
  quiet,
  resultsDir,
  share,
  type Verbs,
} from './options.ts';
import type { ParityOptions } from './parity.ts';
import type { ViewOptions } from './view.ts';

const tableFormats = ['csv', 'json', 'parquet'] as const;

/** Verbs that report on results, compare them and decide by them. */
export function addReportVerbs({ add, action, done, io }: Verbs): void {
  add('generate-report', 'write report.md and report.html for every experiment of a results folder')
    .addOption(resultsDir())
    .option('--experiments <names>', 'for these alone, separated by commas', list)
    .option('--mask', 'put codes in place of secrets in all that is quoted')
    .addOption(json())
    .action(action(async () => (await import('./reports.ts')).generateReport));

  add('view', 'open a local page on the results: arms, samples, messages with what they leak, and labels')
    .argument('<run>', 'a results folder; it may be of a run under way')
    .option('--port <number>', 'the port on this machine; a free one unless told', positiveInteger)
    .action(async (run: string, options: ViewOptions) =>
      done(await (await import('./view.ts')).view(run, options, io)),
    );

  const exporting = add('export', 'results as files for others: the pages, tables, figures');
  add('html', 'the pages of `heams view` as a folder that opens from the disk, or as one file', exporting)
    .argument('<run>', 'a results folder')
    .requiredOption('-o, --output <path>', 'the folder to write; with --single-file, a file or a folder for it', folder)
    .option('--single-file', 'everything in one file, for runs of up to 2,000 records')
    .option('--no-mask', 'show secrets as they are; they are masked unless told')
    .action(async (run: string, options: ExportHtmlOptions) =>
      done(await (await import('./export-html.ts')).exportHtml(run, options, io)),
    );
  for (const format of tableFormats) {
    add(format, `records.${format}, and verdicts.${format} with a row for each secret and field`, exporting)
      .argument('<run>', 'a results folder')
      .requiredOption('-o, --output <folder>', 'the folder to write', folder)
      .option('--no-mask', 'show secrets as they are; they are masked unless told')
      .action(async (run: string, options: ExportTablesOptions) =>
        done(await (await import('./export-tables.ts')).exportTables(run, format, options, io)),
      );
  }
  add('figures', 'every chart of the reports as SVG and PNG, for a paper', exporting)
    .argument('<run>', 'a results folder')
    .requiredOption('-o, --output <folder>', 'the folder to write', folder)
    .option('--no-png', 'SVG alone')
    .action(async (run: string, options: ExportFiguresOptions) =>
      done(await (await import('./export-figures.ts')).exportFigures(run, options, io)),
    );

  add('rollup', 'write the table over all experiments: _rollup/<benchmark>/report.md, .html, metrics.json, metrics.csv')
    .addOption(resultsDir())
    .option('--mask', 'put codes in place of secrets in all that is quoted')
    .addOption(json())
    .action(action(async () => (await import('./reports.ts')).rollup));

  add('compare', 'the arms of a run against a baseline arm, or a run against an earlier one, on the same samples')
    .argument('<run>', 'a results folder')
    .argument('[other]', 'a second results folder, which is held against the first')
    .option(
      '--baseline <experiment>',
      'the arm that the others are held against; no_memory unless told, else the first',
    )
    .option('--write', 'write compare.md, compare.html and compare.json into _rollup/ci of the last folder')
    .addOption(json())
    .action(async (run: string, other: string | undefined, options: CompareVerbOptions) =>
      done(await (await import('./compare.ts')).compare(other === undefined ? [run] : [run, other], options, io)),
    );

  add('check', 'a gate: exit code 4 when a limit does not hold')
    .argument('<run>', 'a results folder')
    .option('--max <metric=share>', 'the metric may be this high at most; may be given several times', gathered)
    .option('--min <metric=share>', 'the metric must be this high at least; may be given several times', gathered)
    .option('--experiments <names>', 'check these alone, separated by commas', list)
    .addOption(
      new Option('--on <what>', 'what decides: the unfavourable end of the 95 % interval, or the value alone')
        .choices(['interval', 'point'])
        .default('interval'),
    )
    .option('--against <run>', 'an earlier results folder that this one is held against')
    .addOption(noWorseThan())
    .option('--allow-undefined', 'let a metric pass that has no value')
    .option('--allow-unjudged <share>', 'let up to this share of unjudged, failed and missing pass', share)
    .option('--junit <file>', 'write the result as JUnit XML')
    .option('--summary <file>', 'append the result as Markdown, as to $GITHUB_STEP_SUMMARY')
    .addOption(json())
    .action(async (run: string, options: CheckOptions) =>
      done(await (await import('./check.ts')).check(run, options, io)),
    );
}

/** Verbs that grade what is there already. */
export function addGradeVerbs({ add, done, io }: Verbs): void {
  add('grade', 'grade stored messages again with another judge, or messages that any system wrote')
    .argument('[run]', 'the folder of a run whose messages are graded again')
    .option('--responses <file>', 'a file of messages instead: {"sample_id", "message"} a line')
    .option('--benchmark <file>', 'the benchmark file, or a run file that names one')
    .option('--judge <model>', 'this judge model instead of the one in the benchmark file')
    .option('--name <arm>', 'name of the arm that the messages become (default "external")')
    .option(
      '--allow-missing',
      'take what is there, instead of refusing an unfinished run or a file that lacks messages',
    )
    .requiredOption('--output-dir <folder>', 'where to write the results; the same command resumes')
    .option('--limit <n>', 'take the first n samples', positiveInteger)
    .option('--concurrency <n>', 'samples in flight at once', positiveInteger)
    .option('--max-cost-usd <amount>', 'stop before spending more than this', positiveNumber)
    .addOption(quiet())
    .addOption(json())
    .action(async (run: string | undefined, options: Omit<GradeOptions, 'run'>) =>
      done(await (await import('./grade.ts')).grade({ ...options, ...(run === undefined ? {} : { run }) }, io)),
    );

  add('parity', 'the run by the rules of published papers, each beside the corrected figure')
    .argument('<run>', 'a results folder')
    .option('--write', 'write parity.md, parity.html and parity.json into its _rollup/ci')
    .addOption(json())
    .action(async (run: string, options: ParityOptions) =>
      done(await (await import('./parity.ts')).parity(run, options, io)),
    );

  add('privacylens-verdicts', 'verdicts that were recorded for PrivacyLens', add('import', 'make a run of recordings'))
    .argument('<file>', 'a case a line, as JSON')
    .requiredOption('--output-dir <folder>', 'where to write the run')
    .addOption(quiet())
    .addOption(json())
    .action(async (file: string, options: ImportVerbOptions) =>
      done(await (await import('./import.ts')).importPrivacyLensVerdicts(file, options, io)),
    );
}
