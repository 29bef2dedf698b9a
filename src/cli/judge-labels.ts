import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { joinLabels } from '../benchmarks/contextual-integrity/labels.ts';
import { labelAgreement } from '../benchmarks/contextual-integrity/labels-agreement.ts';
import { parseLabels } from '../benchmarks/contextual-integrity/labels-file.ts';
import { labelDocument } from '../benchmarks/contextual-integrity/labels-report.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { VERSION } from '../lib/version.ts';
import { percentRange, plural, rateText } from '../report/format.ts';
import { renderHtml } from '../report/render-html.ts';
import { renderMarkdown } from '../report/render-markdown.ts';
import type { AgreementCoefficient } from '../schema/agreement.ts';
import { type LabelAgreement, labelAgreementSchema } from '../schema/label-agreement.ts';
import { listExperiments, readRecords } from '../store/records.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';
import { writeResults } from './write-results.ts';

export interface JudgeLabelsOptions {
  labels: string;
  outputDir?: string;
  json?: boolean;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new HeamsError('the label file cannot be read', {
      code: 'labels_unreadable',
      where: { file },
      expected: 'a CSV file with the columns record, item, label',
      found: messageOf(cause),
      cause,
    });
  }
}

/** `heams judge labels`: how far the judges of a run agree with people. */
export async function judgeLabels(run: string, options: JudgeLabelsOptions, io: Io): Promise<number> {
  const folder = resolve(io.cwd, run);
  const file = resolve(io.cwd, options.labels);
  const labels = parseLabels(await readText(file), file);
  const experiments = await listExperiments(folder);
  const joined = await joinLabels(
    labels,
    experiments.map(({ name, runsFile }) => ({ name, records: readRecords(runsFile) })),
  );
  const unsure = labels.filter(({ value }) => value === undefined).length;
  const agreement = labelAgreementSchema.parse(
    labelAgreement(joined, { heams: VERSION, labels: labels.length, unsure }),
  );
  const document = labelDocument(agreement);
  const outputDir = options.outputDir === undefined ? join(folder, '_judges') : resolve(io.cwd, options.outputDir);
  const files = await writeResults(outputDir, {
    'label_agreement.json': `${JSON.stringify(agreement, null, 2)}\n`,
    'label_agreement.md': renderMarkdown(document),
    'label_agreement.html': renderHtml(document),
  });
  if (options.json) io.out(JSON.stringify({ files, agreement }));
  else {
    for (const line of summaryLines(agreement)) io.out(safeTerminal(line));
    for (const written of files) io.out(relative(io.cwd, written) || written);
  }
  return exit.done;
}

const coefficient = (of: AgreementCoefficient): string =>
  of.defined ? `${of.value.toFixed(2)} (${of.low.toFixed(2)} to ${of.high.toFixed(2)})` : `undefined (${of.reason})`;

function summaryLines({ labels, records, raters, sides, disagreements }: LabelAgreement): string[] {
  const rows = sides.flatMap(({ side, judges }) =>
    judges.map(({ judge, agreement, kappa, alpha, unjudged, missing }) => [
      judge,
      side,
      agreement.defined ? `${rateText(agreement)} (${percentRange(agreement.interval)})` : 'undefined',
      coefficient(kappa),
      coefficient(alpha),
      String(unjudged + missing),
    ]),
  );
  return [
    `${plural(labels, 'label')} of ${plural(raters.length, 'rater')} in ${plural(records, 'record')}, ${plural(disagreements.length, 'disagreement')}`,
    ...textTable([['judge', 'about', 'agree', 'kappa', 'alpha', 'no verdict'], ...rows], new Set([5])),
    '',
  ];
}
