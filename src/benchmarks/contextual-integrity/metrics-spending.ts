import type { CiMetrics, Duration } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { emptyStageUsage, emptyUsage, type Stage, type StageUsage, stages, type Usage } from '../../schema/usage.ts';
import { ExactSum } from '../../stats/exact-sum.ts';
import { QuantileSketch } from '../../stats/quantile-sketch.ts';

const timed = [
  ['total', 'total_ms'],
  ['prime', 'prime_ms'],
  ['agent', 'agent_ms'],
  ['judge', 'judge_ms'],
] as const;

const counted = Object.keys(emptyStageUsage()).filter((name) => name !== 'cost_usd') as Exclude<
  keyof StageUsage,
  'cost_usd'
>[];

/** What the samples cost and how long they took, failed ones included. */
export class SpendingTally {
  private readonly usage: Usage = emptyUsage();
  private readonly cost = Object.fromEntries(stages.map((stage) => [stage, new ExactSum()])) as Record<Stage, ExactSum>;
  private readonly sketches = timed.map(() => new QuantileSketch());

  add({ usage, timings }: SampleRecord): void {
    for (const stage of stages) {
      this.cost[stage].add(usage[stage].cost_usd);
      for (const name of counted) this.usage[stage][name] += usage[stage][name];
    }
    for (const [i, [, key]] of timed.entries()) {
      const ms = timings[key];
      if (ms !== undefined) this.sketches[i]?.add(ms);
    }
  }

  merge(other: SpendingTally): void {
    for (const stage of stages) {
      this.cost[stage].merge(other.cost[stage]);
      for (const name of counted) this.usage[stage][name] += other.usage[stage][name];
    }
    for (const [i, sketch] of this.sketches.entries()) sketch.merge(other.sketches[i] as QuantileSketch);
  }

  result(): Pick<CiMetrics, 'usage' | 'time'> {
    const usage = structuredClone(this.usage);
    for (const stage of stages) usage[stage].cost_usd = this.cost[stage].value;
    const time: CiMetrics['time'] = {};
    for (const [i, [name]] of timed.entries()) {
      const duration = durationOf(this.sketches[i]);
      if (duration) time[name] = duration;
    }
    return { usage, time };
  }
}

function durationOf(sketch: QuantileSketch | undefined): Duration | undefined {
  const mean_ms = sketch?.mean;
  const median_ms = sketch?.quantile(0.5);
  const p95_ms = sketch?.quantile(0.95);
  if (!sketch || mean_ms === undefined || median_ms === undefined || p95_ms === undefined) return undefined;
  return { count: sketch.count, mean_ms, median_ms, p95_ms };
}
