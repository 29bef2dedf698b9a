import { join, resolve } from 'node:path';
import { compareRuns } from '../benchmarks/contextual-integrity/compare.ts';
import { ciViewer } from '../benchmarks/contextual-integrity/viewer.ts';
import { loadReporters } from '../config/registry.ts';
import { systemClock } from '../lib/clock.ts';
import { packageRoot } from '../lib/shipped.ts';
import type { BenchmarkView } from '../server/arm-index.ts';
import { serveViewer } from '../server/serve.ts';
import { exit, type Io } from './io.ts';

export interface ViewOptions {
  port?: number;
}

/** How each benchmark's records are shown and summed up. */
export async function benchmarkViews(): Promise<ReadonlyMap<string, BenchmarkView>> {
  const reporters = await loadReporters();
  const views = [ciViewer].flatMap((viewer) => {
    const reporter = reporters.get(viewer.benchmark);
    return reporter ? [[viewer.benchmark, { viewer, reporter }] as const] : [];
  });
  return new Map(views);
}

/** `heams view`: a local page over a results folder, until Ctrl-C. */
export async function view(folder: string, options: ViewOptions, io: Io): Promise<number> {
  const running = await serveViewer({
    resultsDir: resolve(io.cwd, folder),
    port: options.port ?? 0,
    pageDir: join(packageRoot(), 'dist', 'viewer'),
    views: await benchmarkViews(),
    clock: systemClock,
    compare: (dir, baseline) => compareRuns({ runs: [{ dir, label: folder }], baseline }),
  });
  io.out(running.url);
  io.note('Open this address in a browser; it holds a token and is reachable from this machine alone. Ctrl-C ends it.');
  const stopped = new Promise<void>((ended) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended());
  });
  await Promise.race([running.index.refresh(), stopped]);
  if (running.index.rows.length > 0) io.note(`${running.index.rows.length} records are read.`);
  await stopped;
  await running.close();
  return exit.done;
}
