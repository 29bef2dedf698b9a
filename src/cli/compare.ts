import { relative, resolve } from 'node:path';
import type { Inline, Rich } from '../contracts/document.ts';
import { safeTerminal } from '../lib/escape.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

export interface CompareVerbOptions {
  baseline?: string;
  write?: boolean;
  json?: boolean;
}

const partText = (part: Inline): string => (typeof part === 'string' ? part : 'code' in part ? part.code : part.strong);
const plain = (text: Rich): string => (Array.isArray(text) ? text : [text as Inline]).map(partText).join('');

/** `heams compare <run> [<run>]` */
export async function compare(runs: readonly string[], options: CompareVerbOptions, io: Io): Promise<number> {
  const { compareRuns } = await import('../benchmarks/contextual-integrity/compare.ts');
  const [first, second] = runs.map((label) => ({ label, dir: resolve(io.cwd, label) }));
  if (!first) throw new Error('the command line asks for one run at least');
  const comparison = await compareRuns({
    runs: second ? [first, second] : [first],
    ...(options.baseline === undefined ? {} : { baseline: options.baseline }),
  });
  const written = options.write
    ? await (await import('../benchmarks/contextual-integrity/compare-write.ts')).writeComparison(
        (second ?? first).dir,
        comparison,
      )
    : [];
  if (options.json) {
    io.out(JSON.stringify(comparison));
    return exit.done;
  }
  const { comparisonLines, comparisonNotes, undefinedReasons } = await import(
    '../benchmarks/contextual-integrity/compare-report.ts'
  );
  io.out(
    comparison.baseline
      ? `Against ${safeTerminal(comparison.baseline.experiment)}, on the same samples and repeats; differences in percentage points`
      : `${safeTerminal(second?.label ?? '')} against ${safeTerminal(first.label)}, on the same samples and repeats; differences in percentage points`,
  );
  io.out('');
  const rows = comparisonLines(comparison).map((row) => row.map(safeTerminal));
  for (const line of textTable(rows, new Set([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]))) io.out(line);
  for (const note of comparisonNotes(comparison)) io.note(safeTerminal(plain(note)));
  for (const reason of undefinedReasons(comparison)) io.note(safeTerminal(reason));
  for (const file of written) io.out(relative(io.cwd, file) || file);
  return exit.done;
}
