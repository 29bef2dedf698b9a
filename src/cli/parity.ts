import { join, relative, resolve } from 'node:path';
import { type Parity, parityOf } from '../benchmarks/contextual-integrity/parity.ts';
import { parityDocument, parityNotes, parityRows } from '../benchmarks/contextual-integrity/parity-document.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { makeFolders } from '../lib/make-folders.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import { renderHtml } from '../report/render-html.ts';
import { renderMarkdown } from '../report/render-markdown.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

export interface ParityOptions {
  write?: boolean;
  json?: boolean;
}

async function writeParity(dir: string, figures: Parity): Promise<string[]> {
  const document = parityDocument(figures);
  const contents = {
    'parity.md': renderMarkdown(document),
    'parity.html': renderHtml(document),
    'parity.json': `${JSON.stringify(figures, null, 2)}\n`,
  };
  try {
    await makeFolders(dir);
    for (const [name, content] of Object.entries(contents)) await writeFileWhole(join(dir, name), content);
  } catch (cause) {
    throw new HeamsError(`cannot write the figures: ${messageOf(cause)}`, {
      code: 'report_write_failed',
      where: { file: dir },
      hint: 'mend the permissions or make room, and run the command again',
      cause,
    });
  }
  return Object.keys(contents).map((name) => join(dir, name));
}

/** `heams parity <run>`: published figures beside the corrected ones, printed, and written into `_rollup/ci` if asked. */
export async function parity(run: string, options: ParityOptions, io: Io): Promise<number> {
  const resultsDir = resolve(io.cwd, run);
  const figures = await parityOf(resultsDir);
  if (figures.arms.length === 0) {
    throw new HeamsError('its experiments have no record yet, so there is nothing to score', {
      code: 'results_no_records',
      where: { file: resultsDir },
    });
  }
  const files = options.write ? await writeParity(join(resultsDir, '_rollup', 'ci'), figures) : [];
  if (options.json) {
    io.out(JSON.stringify(figures));
    return exit.done;
  }
  for (const arm of figures.arms) {
    const head = ['paper', 'figure', 'published', 'over', 'corrected', '95 % interval', 'bounds'];
    const rows = parityRows(arm).map((row) => Object.values(row) as string[]);
    io.out(safeTerminal(arm.experiment));
    for (const line of textTable([head, ...rows], new Set([2, 3, 4, 5, 6]))) io.out(line);
    for (const note of parityNotes(arm)) io.note(note);
    io.out('');
  }
  for (const file of files) io.out(relative(io.cwd, file) || file);
  return exit.done;
}
