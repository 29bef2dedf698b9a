import { loadReporters } from '../config/registry.ts';
import { safeTerminal } from '../lib/escape.ts';
import { byReporter, type Summaries, summarize } from '../report/summarize.ts';
import type { Io } from './io.ts';
import { textTable } from './table.ts';

/** One table a benchmark: arms as rows, as the reporter words them. */
export function printSummaries({ summaries }: Summaries, io: Io): void {
  for (const [reporter, group] of byReporter(summaries)) {
    const rows = reporter.summaryRows(group.map(({ metrics }) => metrics));
    const columns = Object.keys(rows[0] ?? {});
    const cells = rows.map((row) => columns.map((column) => safeTerminal(String(row[column] ?? ''))));
    io.out('');
    for (const line of textTable([columns, ...cells], new Set(columns.map((_, i) => i).slice(1)))) io.out(line);
  }
}

/** The table of arms of a results folder, from its records. */
export async function printSummary(resultsDir: string, io: Io): Promise<void> {
  printSummaries(await summarize({ resultsDir, reporters: await loadReporters() }), io);
}
