import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { loadReporters } from '../config/registry.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import { type Figure, figuresOf, pngOf } from '../report/figure-files.ts';
import { byReporter, summarize } from '../report/summarize.ts';
import { exit, type Io } from './io.ts';

export interface ExportFiguresOptions {
  output: string;
  /** False for SVG alone. */
  png: boolean;
}

/** `heams export figures`: every chart of the reports as SVG and PNG. */
export async function exportFigures(folder: string, options: ExportFiguresOptions, io: Io): Promise<number> {
  const { summaries, empty } = await summarize({
    resultsDir: resolve(io.cwd, folder),
    reporters: await loadReporters(),
  });
  const figures: Figure[] = [];
  for (const [reporter, group] of byReporter(summaries)) {
    const arms = group.map(({ metrics }) => metrics);
    const { document } = reporter.rollup(
      arms,
      empty.map(({ name }) => name),
    );
    figures.push(...figuresOf(document, 'rollup'));
    for (const { experiment, metrics } of group) figures.push(...figuresOf(reporter.report(metrics), experiment.name));
  }
  const output = resolve(io.cwd, options.output);
  await mkdir(output, { recursive: true });
  for (const figure of figures) {
    await writeFileWhole(join(output, `${figure.name}.svg`), figure.svg);
    if (options.png) await writeFileWhole(join(output, `${figure.name}.png`), await pngOf(figure));
    io.out(join(output, figure.name));
  }
  return exit.done;
}
