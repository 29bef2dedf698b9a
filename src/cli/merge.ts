import { relative, resolve } from 'node:path';
import { mergeRuns } from '../config/merge-runs.ts';
import { safeTerminal } from '../lib/escape.ts';
import { plural } from '../report/format.ts';
import { hostOf } from './host.ts';
import { exit, type Io } from './io.ts';

export interface MergeOptions {
  folders: string[];
  outputDir: string;
  json?: boolean;
}

/** Ids shown of what an arm lacks. */
const SHOWN = 10;

/** `heams merge`: ends with 3 where samples are missing, with 1 where some failed. */
export async function merge(options: MergeOptions, io: Io): Promise<number> {
  const outputDir = resolve(io.cwd, options.outputDir);
  const dirs = options.folders.map((dir) => resolve(io.cwd, dir));
  const { runId, arms, doubles } = await mergeRuns({ dirs, outputDir, host: hostOf(io) });
  const missing = arms.some((arm) => arm.missing.length > 0);
  const code = missing ? exit.stopped : arms.some((arm) => arm.failed > 0) ? exit.withFailures : exit.done;
  if (options.json) {
    io.out(JSON.stringify({ run_id: runId, output_dir: outputDir, doubles, experiments: arms, exit_code: code }));
    return code;
  }
  for (const arm of arms) {
    const ids = arm.missing.slice(0, SHOWN).map(({ sample_id, repeat }) => `${sample_id} (repeat ${repeat})`);
    const more = arm.missing.length > SHOWN ? `, and ${arm.missing.length - SHOWN} more` : '';
    const gaps = ids.length > 0 ? `; missing: ${ids.join(', ')}${more}` : '';
    io.out(safeTerminal(`${arm.experiment}: ${arm.done} of ${arm.planned} done, ${arm.failed} failed${gaps}`));
  }
  io.out(`${plural(doubles, 'double')} left out. Results: ${relative(io.cwd, outputDir) || '.'}`);
  return code;
}
