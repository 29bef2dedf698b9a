import type { Random } from '../../lib/random.ts';
import type { Difference } from '../../schema/ci-comparison.ts';
import { ExactSum } from '../../stats/exact-sum.ts';
import { exactMcNemar } from '../../stats/mcnemar.ts';
import { highestMean, lowestMean } from '../../stats/mean-bounds.ts';
import { newcombePaired } from '../../stats/newcombe-paired.ts';
import { type ClusterDifferences, pairedClusterInterval } from '../../stats/paired-bootstrap.ts';
import { signFlipTest } from '../../stats/paired-sign-flip.ts';
import type { Outcome } from './metrics-observe.ts';

export interface TallyContext {
  /** Clusters by number, in the order in which they are worked on. */
  clustersInOrder: Uint32Array;
  /** A source of its own for each use, the same whichever arm is the baseline. */
  random(use: string): Random;
}

/** A difference before the family it is tested in is known. */
export type RawDifference =
  | Omit<Extract<Difference, { defined: true }>, 'p_holm'>
  | Extract<Difference, { defined: false }>;

/** Adds up differences by cluster, so that the order of pairs does not matter, not even in the last bit. */
class ClusterTally {
  private readonly whole: Float64Array;
  private readonly units: Float64Array;
  private readonly fractions = new Map<number, ExactSum>();

  constructor(clusters: number) {
    this.whole = new Float64Array(clusters);
    this.units = new Float64Array(clusters);
  }

  add(cluster: number, difference: number, units: number): void {
    this.units[cluster] = (this.units[cluster] as number) + units;
    if (Number.isInteger(difference)) this.whole[cluster] = (this.whole[cluster] as number) + difference;
    else {
      const sum = this.fractions.get(cluster) ?? new ExactSum();
      sum.add(difference);
      this.fractions.set(cluster, sum);
    }
  }

  inOrder(order: Uint32Array): ClusterDifferences {
    const used = order.filter((cluster) => (this.units[cluster] as number) > 0);
    const sumOf = (cluster: number): number => {
      const fraction = this.fractions.get(cluster);
      if (!fraction) return this.whole[cluster] as number;
      const sum = new ExactSum();
      sum.add(fraction.value);
      sum.add(this.whole[cluster] as number);
      return sum.value;
    };
    return {
      differences: Float64Array.from(used, sumOf),
      units: Float64Array.from(used, (cluster) => this.units[cluster] as number),
    };
  }
}

type Open = Extract<Difference, { defined: true }>['open'];
const noOpen = (): Open => ({ baseline: 0, arm: 0, both: 0 });

/** Which side of a pair is open; nothing where neither is. */
function openSide(baseline: boolean, arm: boolean): keyof Open | undefined {
  if (baseline && arm) return 'both';
  return baseline ? 'baseline' : arm ? 'arm' : undefined;
}

const lowest = (outcome: Outcome): number => (outcome === 'yes' ? 1 : 0);
const highest = (outcome: Outcome): number => (outcome === 'no' ? 0 : 1);

const clamp = (value: number): number => Math.max(-1, Math.min(1, value));
/** Keeps a difference that rounding pushed over an end inside its bounds. */
const around = (value: number, low: number, high: number) => ({
  low: clamp(Math.min(value, low)),
  high: clamp(Math.max(value, high)),
});

/** Means of differences in [-1, 1], by way of means in [0, 1]. */
function extremeMeans(fixed: Counted, optional: Counted, low: boolean): number {
  const spread = (counted: Counted) =>
    Float64Array.from([...counted].sort().flatMap(([value, n]) => new Array<number>(n).fill((value + 1) / 2)));
  const mean = (low ? lowestMean : highestMean)(spread(fixed), spread(optional));
  return mean === undefined ? (low ? -1 : 1) : 2 * mean - 1;
}

type Counted = Map<number, number>;
const bump = (counted: Counted, value: number) => counted.set(value, (counted.get(value) ?? 0) + 1);

/** A pair's place in a difference of shares: it counts, it may count (both bounds may take it), or it does not. */
export type Membership = 'in' | 'maybe' | 'out';

/**
 * Difference of two shares over paired samples. Where every cluster has one pair: Newcombe's interval and the exact
 * McNemar test. Else both would take pairs of one cluster for independent, and the paired cluster bootstrap and the
 * sign-flip test over clusters stand in.
 */
export class ShareTally {
  private readonly clusters: ClusterTally;
  private readonly table = { bothYes: 0, firstOnly: 0, secondOnly: 0, bothNo: 0 };
  private readonly open = noOpen();
  private readonly low = { fixed: new Map() as Counted, optional: new Map() as Counted };
  private readonly high = { fixed: new Map() as Counted, optional: new Map() as Counted };

  constructor(clusters: number) {
    this.clusters = new ClusterTally(clusters);
  }

  /** `openBy` says which sides leave it open whether the pair belongs. */
  add(cluster: number, baseline: Outcome, arm: Outcome, membership: Membership = 'in', openBy?: keyof Open): void {
    if (membership === 'out') return;
    const kind = membership === 'in' ? 'fixed' : 'optional';
    bump(this.low[kind], lowest(arm) - highest(baseline));
    bump(this.high[kind], highest(arm) - lowest(baseline));
    const open = membership === 'maybe' ? openBy : openSide(baseline === 'open', arm === 'open');
    if (open) {
      this.open[open] += 1;
      return;
    }
    const [first, second] = [arm === 'yes', baseline === 'yes'];
    this.table[first ? (second ? 'bothYes' : 'firstOnly') : second ? 'secondOnly' : 'bothNo'] += 1;
    this.clusters.add(cluster, lowest(arm) - lowest(baseline), 1);
  }

  difference(context: TallyContext, name: string, reason: string): RawDifference {
    const { bothYes, firstOnly, secondOnly, bothNo } = this.table;
    const judged = bothYes + firstOnly + secondOnly + bothNo;
    const common = { of: 'pairs' as const, judged, open: { ...this.open } };
    if (judged === 0) return { defined: false, reason, ...common };
    const sums = this.clusters.inOrder(context.clustersInOrder);
    const alone = sums.units.every((units) => units === 1);
    const newcombe = newcombePaired(this.table);
    const interval = alone
      ? { ...newcombe, method: 'newcombe' as const }
      : pairedClusterInterval(sums, { random: context.random(`${name}.interval`) });
    const value = (firstOnly - secondOnly) / judged;
    const { p, method } = signFlipTest(sums.differences, { random: context.random(`${name}.test`) });
    return {
      defined: true,
      value,
      baseline: (bothYes + secondOnly) / judged,
      arm: (bothYes + firstOnly) / judged,
      ...common,
      clusters: sums.units.length,
      interval: { ...interval, level: 0.95 },
      bounds: around(
        value,
        extremeMeans(this.low.fixed, this.low.optional, true),
        extremeMeans(this.high.fixed, this.high.optional, false),
      ),
      p,
      p_method: method,
      independent: { ...newcombe, p: exactMcNemar(firstOnly, secondOnly) },
    };
  }
}

interface MeanPart {
  cluster: number;
  baseline: number;
  arm: number;
  units: number;
}

/** Shared by pooled items and means of shares: sums over clusters, and sums for the bounds. */
class MeanTally {
  protected readonly open = noOpen();
  private readonly clusters: ClusterTally;
  private readonly sums = { baseline: new ExactSum(), arm: new ExactSum(), low: new ExactSum(), high: new ExactSum() };
  private readonly kind: 'pairs' | 'items';
  private judged = 0;
  private all = 0;

  constructor(clusters: number, kind: 'pairs' | 'items') {
    this.clusters = new ClusterTally(clusters);
    this.kind = kind;
  }

  protected addJudged({ cluster, baseline, arm, units }: MeanPart): void {
    this.judged += units;
    this.sums.baseline.add(baseline);
    this.sums.arm.add(arm);
    this.clusters.add(cluster, arm - baseline, units);
  }

  protected addBounds(low: number, high: number, units: number): void {
    this.all += units;
    this.sums.low.add(low);
    this.sums.high.add(high);
  }

  difference(context: TallyContext, name: string, reason: string): RawDifference {
    const { judged, all } = this;
    const common = { of: this.kind, judged, open: { ...this.open } };
    if (judged === 0) return { defined: false, reason, ...common };
    const data = this.clusters.inOrder(context.clustersInOrder);
    const interval = pairedClusterInterval(data, { random: context.random(`${name}.interval`) });
    const { p, method } = signFlipTest(data.differences, { random: context.random(`${name}.test`) });
    const total = new ExactSum();
    for (const difference of data.differences) total.add(difference);
    const value = clamp(total.value / judged);
    return {
      defined: true,
      value,
      baseline: Math.min(1, this.sums.baseline.value / judged),
      arm: Math.min(1, this.sums.arm.value / judged),
      ...common,
      clusters: data.units.length,
      interval: { ...around(value, interval.low, interval.high), method: interval.method, level: 0.95 },
      bounds: around(value, this.sums.low.value / all, this.sums.high.value / all),
      p,
      p_method: method,
    };
  }
}

const openItems = (count: number): Outcome[] => new Array<Outcome>(count).fill('open');

/** Items of a pair side by side. A side without a grade has all items open, as the other side names them. */
function aligned(baseline: readonly Outcome[], arm: readonly Outcome[]) {
  const count = Math.max(baseline.length, arm.length);
  const [first, second] = [baseline, arm].map((side) => (side.length === count ? side : openItems(count)));
  return (first as readonly Outcome[]).map(
    (outcome, i) => [outcome, (second as readonly Outcome[])[i] as Outcome] as const,
  );
}

/** Difference of two pooled rates over the items that both arms have a verdict for. */
export class ItemTally extends MeanTally {
  constructor(clusters: number) {
    super(clusters, 'items');
  }

  add(cluster: number, baseline: readonly Outcome[], arm: readonly Outcome[]): void {
    const part = { cluster, baseline: 0, arm: 0, units: 0 };
    for (const [first, second] of aligned(baseline, arm)) {
      this.addBounds(lowest(second) - highest(first), highest(second) - lowest(first), 1);
      const open = openSide(first === 'open', second === 'open');
      if (open) this.open[open] += 1;
      else {
        part.units += 1;
        part.baseline += lowest(first);
        part.arm += lowest(second);
      }
    }
    if (part.units > 0) this.addJudged(part);
  }
}

/** Difference of two means over samples of the share of "yes" among the items that both arms have a verdict for. */
export class SampleShareTally extends MeanTally {
  constructor(clusters: number) {
    super(clusters, 'pairs');
  }

  /** `ungraded` names the sides without a grade: where both have none, their items are not known. */
  add(cluster: number, baseline: readonly Outcome[], arm: readonly Outcome[], ungraded?: keyof Open): void {
    const pairs = aligned(baseline, arm);
    if (pairs.length === 0) {
      if (ungraded !== 'both') return;
      this.open.both += 1;
      this.addBounds(-1, 1, 1);
      return;
    }
    const sum = (of: (pair: readonly [Outcome, Outcome]) => number) =>
      pairs.reduce((total, pair) => total + of(pair), 0);
    this.addBounds(
      sum(([first, second]) => lowest(second) - highest(first)) / pairs.length,
      sum(([first, second]) => highest(second) - lowest(first)) / pairs.length,
      1,
    );
    const judged = pairs.filter((pair) => !pair.includes('open'));
    if (judged.length > 0) {
      const share = (side: 0 | 1) => judged.filter((pair) => pair[side] === 'yes').length / judged.length;
      this.addJudged({ cluster, baseline: share(0), arm: share(1), units: 1 });
      return;
    }
    const unjudged = (side: 0 | 1) => pairs.every((pair) => pair[side] === 'open');
    this.open[openSide(unjudged(0), unjudged(1)) ?? 'both'] += 1;
  }
}
