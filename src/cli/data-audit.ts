import { join, resolve } from 'node:path';
import { DataAudit } from '../benchmarks/contextual-integrity/audit-data.ts';
import { auditDocument, ruleCount, shortcutNames } from '../benchmarks/contextual-integrity/audit-data-document.ts';
import { locateCiDataset } from '../benchmarks/contextual-integrity/dataset.ts';
import { checkRow, ciColumns, duplicateId, sampleOf } from '../benchmarks/contextual-integrity/rows.ts';
import { readRows } from '../datasets/read-rows.ts';
import { HeamsError, HeamsErrors, messageOf } from '../lib/errors.ts';
import { makeFolders } from '../lib/make-folders.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import { countText, fractionText, percentRange, plural, rateText } from '../report/format.ts';
import { renderMarkdown } from '../report/render-markdown.ts';
import type { CiDataAudit } from '../schema/ci-data-audit.ts';
import type { DataOptions } from './data.ts';
import { type DataCommandOptions, dataOptions, linesFor } from './data-command.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

export interface DataAuditOptions extends DataCommandOptions {
  outputDir?: string;
}

/**
 * Audits the whole dataset, whatever its `limit`. The first bad row ends it with its error: what cannot be loaded cannot
 * be audited, and `heams data validate` names all such rows.
 */
export async function auditDataset(options: DataOptions): Promise<CiDataAudit> {
  const { file, source } = await locateCiDataset(options.dataset, options);
  const audit = new DataAudit();
  const seen = new Map<string, number>();
  for await (const { row, where, value } of readRows(file, { columns: ciColumns, signal: options.signal })) {
    const checked = checkRow(value, row, where);
    if (checked.status === 'bad') throw oneOf(checked.errors);
    const duplicate = duplicateId(checked.id, row, { seen, where });
    if (duplicate) throw duplicate;
    audit.add(checked.row, sampleOf(checked.row, checked.id, options.seed));
  }
  return audit.result(source);
}

const oneOf = (errors: readonly HeamsError[]): HeamsError =>
  errors.length === 1 ? (errors[0] as HeamsError) : new HeamsErrors(errors);

async function writeAudit(dir: string, audit: CiDataAudit): Promise<string[]> {
  const contents = {
    'audit.json': `${JSON.stringify(audit, null, 2)}\n`,
    'audit.md': renderMarkdown(auditDocument(audit)),
  };
  try {
    await makeFolders(dir);
    for (const [name, content] of Object.entries(contents)) await writeFileWhole(join(dir, name), content);
  } catch (cause) {
    throw new HeamsError(`cannot write the audit: ${messageOf(cause)}`, {
      code: 'audit_write_failed',
      where: { file: dir },
      hint: 'name a folder that can be written to with --output-dir',
      cause,
    });
  }
  return Object.keys(contents).map((name) => join(dir, name));
}

function summaryLines(audit: CiDataAudit): string[] {
  const { rows, secrets, fields, flagged, duplicate_seeds: seeds, allowed_first, shortcuts } = audit;
  const ruleRows = audit.rules.map(({ id, effect, secrets, fields }) => [
    `  ${id}`,
    effect,
    ruleCount(secrets),
    ruleCount(fields),
  ]);
  const shortcutRows = shortcuts.map(({ id, accuracy }) => [
    `  ${shortcutNames[id]}`,
    rateText(accuracy),
    accuracy.defined ? percentRange(accuracy.interval) : accuracy.reason,
    fractionText(accuracy),
  ]);
  return [
    `${plural(rows, 'row')}, ${plural(secrets, 'secret')}, ${plural(fields, 'field')}`,
    `Flagged: ${plural(flagged.secrets, 'secret')} and ${plural(flagged.fields, 'field')} in ${plural(flagged.rows, 'row')}`,
    '',
    ...textTable([['Items by rule', 'effect', 'secrets', 'fields'], ...ruleRows], new Set([2, 3])),
    '',
    `Shared seeds: ${plural(seeds.groups.length, 'group')} over ${plural(seeds.rows, 'row')}`,
    `All allowed facts first: ${countText(allowed_first.length)} of ${plural(rows, 'row')}`,
    '',
    'Allowed or disallowed, told without reading a value:',
    ...textTable([['  rule', 'right', '95 % interval', 'facts'], ...shortcutRows], new Set([1, 2, 3])),
  ];
}

/** `heams data audit`: what is odd about the scenarios, by rule. Oddities are no error: the exit code is 0. */
export async function auditCommand(options: DataAuditOptions, io: Io): Promise<number> {
  const audit = await auditDataset(await dataOptions(options, io));
  const files = options.outputDir === undefined ? [] : await writeAudit(resolve(io.cwd, options.outputDir), audit);
  const { out } = linesFor(options, io);
  for (const line of summaryLines(audit)) out(line);
  if (files.length > 0) out('');
  for (const file of files) out(`Written: ${file}`);
  if (options.json) io.out(JSON.stringify(audit));
  return exit.done;
}
