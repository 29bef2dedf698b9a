import type { SingleBar } from 'cli-progress';
import type { Clock } from '../contracts/call.ts';
import type { SampleRecord } from '../schema/record.ts';
import { stages } from '../schema/usage.ts';
import type { Io } from './io.ts';

const PLAIN_EVERY_MS = 5000;

export interface ProgressOptions {
  io: Io;
  clock: Clock;
  /** What the running rate counts, and its share of one record. */
  headlineName: string;
  headline(record: SampleRecord): { hits: number; of: number } | undefined;
}

export interface Progress {
  start(plan: { planned: number; pending: number }): Promise<void>;
  record(record: SampleRecord): void;
  stop(): void;
}

export const silentProgress: Progress = { start: async () => {}, record: () => {}, stop: () => {} };

/** Seconds as `1:02:03` or `2:03`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A bar on a terminal, a line every few seconds elsewhere. */
export function liveProgress({ io, clock, headline, headlineName }: ProgressOptions): Progress {
  const seen = { done: 0, failed: 0, calls: 0, cost: 0, unpriced: 0, hits: 0, of: 0 };
  let total = 0;
  let startedAt = 0;
  let printedAt = 0;
  let bar: SingleBar | undefined;

  const finished = () => seen.done + seen.failed;
  const details = (): string => {
    const seconds = Math.max((clock.monotonic() - startedAt) / 1000, 0.001);
    const left = finished() === 0 ? undefined : (seconds / finished()) * (total - finished());
    return [
      ...(seen.failed > 0 ? [`${seen.failed} failed`] : []),
      ...(seen.calls > 0 ? [`${(seen.calls / seconds).toFixed(1)} calls/s`] : []),
      `${headlineName} so far ${seen.of === 0 ? 'undefined' : `${((100 * seen.hits) / seen.of).toFixed(1)} % of ${seen.of}`}`,
      ...(seen.calls > 0
        ? [`$${seen.cost.toFixed(4)}${seen.unpriced > 0 ? ` + ${seen.unpriced} unpriced calls` : ''}`]
        : []),
      `${left === undefined ? '-' : duration(left)} left`,
    ].join(' | ');
  };
  const plain = () => io.note(`${finished()}/${total} samples | ${details()}`);

  return {
    start: async ({ planned, pending }) => {
      total = pending;
      startedAt = clock.monotonic();
      printedAt = startedAt;
      if (pending < planned) io.note(`Resuming: ${planned - pending} of ${planned} samples are done already.`);
      if (!io.terminal) return;
      const { default: cliProgress } = await import('cli-progress');
      bar = new cliProgress.SingleBar(
        { format: '{bar} {value}/{total} samples | {details}', hideCursor: true, barsize: 24, stream: process.stderr },
        cliProgress.Presets.shades_classic,
      );
      bar.start(total, 0, { details: details() });
    },
    record: (record) => {
      seen[record.status] += 1;
      for (const stage of stages) {
        seen.calls += record.usage[stage].calls;
        seen.cost += record.usage[stage].cost_usd;
        seen.unpriced += record.usage[stage].unpriced_calls;
      }
      const rate = headline(record);
      if (rate) {
        seen.hits += rate.hits;
        seen.of += rate.of;
      }
      if (bar) bar.update(finished(), { details: details() });
      else if (clock.monotonic() - printedAt >= PLAIN_EVERY_MS) {
        printedAt = clock.monotonic();
        plain();
      }
    },
    stop: () => {
      bar?.stop();
      if (!bar && total > 0) plain();
    },
  };
}
