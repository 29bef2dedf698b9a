import { randomBytes } from 'node:crypto';
import { basename, join, relative, resolve } from 'node:path';
import { type Imported, importPrivacyLens } from '../benchmarks/contextual-integrity/import-privacylens.ts';
import { newRunId } from '../config/execute-run.ts';
import { safeTerminal } from '../lib/escape.ts';
import { VERSION } from '../lib/version.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import { RunFolder } from '../store/run-folder.ts';
import { hostOf } from './host.ts';
import { watchInterrupts } from './interrupts.ts';
import { exit, type Io } from './io.ts';
import { commandLine } from './self.ts';
import { textTable } from './table.ts';

export interface ImportVerbOptions {
  outputDir: string;
  quiet?: boolean;
  json?: boolean;
}

/** `heams import privacylens-verdicts` */
export async function importPrivacyLensVerdicts(file: string, options: ImportVerbOptions, io: Io): Promise<number> {
  const outputDir = resolve(io.cwd, options.outputDir);
  const source = resolve(io.cwd, file);
  const now = hostOf(io).clock.now();
  const startedAt = new Date(now).toISOString();
  const runId = newRunId(now, randomBytes(4));
  const interrupts = watchInterrupts(io);
  const folder = await RunFolder.open(outputDir, startedAt);
  try {
    const { sha256, experiments } = await importPrivacyLens({
      file: source,
      store: folder,
      runId,
      startedAt,
      nodeVersion: process.version,
      signal: interrupts.signal,
    });
    const note = {
      version: 1,
      run_id: runId,
      kind: 'privacylens-verdicts',
      file: basename(source),
      sha256,
      experiments,
    };
    const written = { ...note, imported_at: startedAt, heams: VERSION };
    await writeFileWhole(join(outputDir, `import.${runId}.json`), `${JSON.stringify(written, null, 2)}\n`);
    if (options.json) io.out(JSON.stringify({ ...note, output_dir: outputDir }));
    else tell(relative(io.cwd, outputDir) || '.', experiments, options, io);
    return exit.done;
  } finally {
    await folder.close();
    interrupts.release();
  }
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? 'undefined' : `${((100 * part) / whole).toFixed(2)} %`;

function tell(where: string, experiments: Imported['experiments'], options: ImportVerbOptions, io: Io): void {
  const cases = experiments.reduce((sum, experiment) => sum + experiment.cases, 0);
  io.out(`${cases} cases of ${experiments.length} recorded runs imported. Results: ${where}`);
  if (options.quiet) return;
  const head = ['run', 'cases', 'leaking', 'secrets leaked', 'without action', 'leaking, of those with an action'];
  const rows = experiments.map(({ name, cases, leaking, secrets, leaked, without_action }) => [
    name,
    String(cases),
    percent(leaking, cases),
    percent(leaked, secrets),
    String(without_action),
    percent(leaking, cases - without_action),
  ]);
  io.out('');
  for (const line of textTable([head, ...rows], new Set([1, 2, 3, 4, 5]))) io.out(safeTerminal(line));
  io.out('');
  io.out(`Next: ${commandLine(io, `parity ${options.outputDir}`)}`);
  io.out(`      ${commandLine(io, `rollup --results-dir ${options.outputDir}`)}`);
}
