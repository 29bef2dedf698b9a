import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ciReporter } from '../../src/benchmarks/contextual-integrity/reporter.ts';
import { ciViewer } from '../../src/benchmarks/contextual-integrity/viewer.ts';
import type { Reporter } from '../../src/contracts/reporter.ts';
import type { SampleRecord } from '../../src/schema/record.ts';
import type { BenchmarkView } from '../../src/server/arm-index.ts';
import { recordLine } from '../../src/store/records.ts';

/** How records are shown and summed up in tests of the viewer. */
export const ciViews: ReadonlyMap<string, BenchmarkView> = new Map([
  ['contextual_integrity', { viewer: ciViewer, reporter: ciReporter as Reporter }],
]);

/** Writes records into a results folder, each experiment's into its own file; what is there already stays. */
export async function addRecords(dir: string, records: readonly SampleRecord[]): Promise<void> {
  for (const record of records) {
    await mkdir(join(dir, record.experiment), { recursive: true });
    await appendFile(join(dir, record.experiment, 'runs.jsonl'), recordLine(record));
  }
}

/** Text that would do harm where it is taken for markup, a command or a link. */
export const hostile = [
  '<script>window.pwned = true</script>',
  '<img src=x onerror="window.pwned = true">',
  '[a link](javascript:window.pwned=true) ![x](http://192.0.2.1/x.png) **bold** | cell',
  '\u001b[31mred\u001b]0;title\u0007',
  '\u202eright to left\u2066',
  '</script></style></textarea>-->',
  '"\' onfocus=alert(1) autofocus="',
].join('\n');

export const statusOf = (dir: string, experiment: string, more: object): Promise<void> =>
  writeFile(
    join(dir, experiment, 'run_status.json'),
    JSON.stringify({
      version: 1,
      run_id: 'run-1',
      experiment,
      state: 'running',
      planned: 10,
      done: 0,
      failed: 0,
      fingerprint: 'print',
      started_at: '2025-01-01T00:00:00.000Z',
      updated_at: '2025-01-01T00:00:00.000Z',
      ...more,
    }),
  );
