import { join, resolve } from 'node:path';
import { compareRuns } from '../benchmarks/contextual-integrity/compare.ts';
import { systemClock } from '../lib/clock.ts';
import { packageRoot } from '../lib/shipped.ts';
import { loadAssets } from '../server/assets.ts';
import { exportHtml as writeExport } from '../server/export-html.ts';
import { ResultsIndex } from '../server/results-index.ts';
import { ServerView } from '../server/server-view.ts';
import { exit, type Io } from './io.ts';
import { benchmarkViews } from './view.ts';

export interface ExportHtmlOptions {
  output: string;
  singleFile?: boolean;
  mask: boolean;
}

/** `heams export html`: the viewer's pages as files, to be kept or mailed. Secrets are masked unless told. */
export async function exportHtml(folder: string, options: ExportHtmlOptions, io: Io): Promise<number> {
  const dir = resolve(io.cwd, folder);
  const index = await ResultsIndex.open(dir, await benchmarkViews());
  await index.refresh();
  const compare = (own: string, baseline: string) => compareRuns({ runs: [{ dir: own, label: folder }], baseline });
  const view = new ServerView({ index, clock: systemClock, compare, mask: options.mask, live: false });
  const singleFile = options.singleFile === true;
  const output = resolve(io.cwd, options.output);
  const assets = await loadAssets(join(packageRoot(), 'dist', 'viewer'));
  const page = await writeExport({
    view,
    assets,
    singleFile,
    output: singleFile && !output.endsWith('.html') ? join(output, 'index.html') : output,
  });
  io.out(page);
  io.note(
    options.mask
      ? 'Secrets are masked where they stand word for word; what a message or a judge puts in other words is not.'
      : 'Secrets are shown as they are.',
  );
  return exit.done;
}
