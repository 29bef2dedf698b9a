import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Clock } from '../contracts/call.ts';
import { HeamsError } from '../lib/errors.ts';
import type { CiComparison } from '../schema/ci-comparison.ts';
import { viewerApp } from './app.ts';
import type { BenchmarkView } from './arm-index.ts';
import { loadAssets } from './assets.ts';
import { LabelFile } from './label-file.ts';
import { ResultsIndex } from './results-index.ts';
import { ServerView } from './server-view.ts';

export interface ServeOptions {
  resultsDir: string;
  /** 0 takes a free one. */
  port: number;
  /** Folder of the built page. */
  pageDir: string;
  views: ReadonlyMap<string, BenchmarkView>;
  clock: Pick<Clock, 'now'>;
  compare(dir: string, baseline: string): Promise<CiComparison>;
}

export interface RunningViewer {
  url: string;
  index: ResultsIndex;
  close(): Promise<void>;
}

/** Loopback alone: results hold people's secrets, and the token is no password for a network. */
const HOST = '127.0.0.1';

/** Starts the viewer of a results folder. The index fills while the page is already answered. */
export async function serveViewer(options: ServeOptions): Promise<RunningViewer> {
  const { resultsDir, port, pageDir, views, clock, compare } = options;
  const assets = await loadAssets(pageDir);
  const index = await ResultsIndex.open(resultsDir, views);
  const labels = await LabelFile.open(index.dir);
  const shared = { index, labels, clock, compare, live: true };
  const token = randomBytes(16).toString('hex');
  const hosts = new Set<string>();
  const app = viewerApp({
    index,
    plain: new ServerView({ ...shared, mask: false }),
    masked: new ServerView({ ...shared, mask: true }),
    token,
    hosts,
    assets,
  });
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: HOST, port }, ({ port: taken }: AddressInfo) => {
      for (const name of [HOST, 'localhost']) hosts.add(`${name}:${taken}`);
      resolve({
        url: `http://${HOST}:${taken}/${token}/`,
        index,
        close: () => new Promise<void>((ended) => void server.close(() => ended())),
      });
    });
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new HeamsError(`the viewer cannot listen on port ${port}`, {
          code: 'view_no_port',
          found: cause.code ?? cause.message,
          hint: 'choose another --port, or leave it out',
          cause,
        }),
      );
    });
  });
}
