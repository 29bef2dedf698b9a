import { seededRandom } from '../../lib/random.ts';
import type { ArmComparison, ComparedMetric, Flips, Pairing, SampleAt } from '../../schema/ci-comparison.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { TopList } from '../../stats/top-list.ts';
import { type OutcomeTable, recordedTwice, type SampleOutcome } from './compare-outcomes.ts';
import { ItemTally, type Membership, type RawDifference, SampleShareTally, ShareTally } from './compare-tallies.ts';
import type { Outcome } from './metrics-observe.ts';

const MAX_FLIPS = 1000;
const MAX_DIFFERENT = 20;

const byName = (a: SampleAt, b: SampleAt): number =>
  a.sample_id < b.sample_id ? -1 : a.sample_id > b.sample_id ? 1 : a.repeat - b.repeat;

class NamedSamples {
  private readonly named: TopList<SampleAt>;
  private count = 0;

  constructor(limit: number) {
    this.named = new TopList(limit, byName);
  }

  add({ sample_id, repeat }: SampleRecord): void {
    this.count += 1;
    this.named.add({ sample_id, repeat });
  }

  get result() {
    return { count: this.count, samples: [...this.named.values] };
  }
}

class FlipTally {
  private readonly armOnly = new NamedSamples(MAX_FLIPS);
  private readonly baselineOnly = new NamedSamples(MAX_FLIPS);

  add(record: SampleRecord, baseline: Outcome, arm: Outcome): void {
    if (baseline === 'no' && arm === 'yes') this.armOnly.add(record);
    if (baseline === 'yes' && arm === 'no') this.baselineOnly.add(record);
  }

  get result(): Flips {
    return { arm_only: this.armOnly.result, baseline_only: this.baselineOnly.result };
  }
}

/**
 * A sample leaks with one leak, whatever else is unjudged; without one, an unjudged secret leaves it open. Nothing for a
 * sample without a secret, as in the rates: it cannot be said to have kept one.
 */
function leaks({ graded, secrets }: SampleOutcome): Outcome | undefined {
  if (!graded) return 'open';
  if (secrets.length === 0) return undefined;
  if (secrets.includes('yes')) return 'yes';
  return secrets.includes('open') ? 'open' : 'no';
}

function sideOf(baseline: boolean, arm: boolean): 'baseline' | 'arm' | 'both' | undefined {
  if (baseline && arm) return 'both';
  return baseline ? 'baseline' : arm ? 'arm' : undefined;
}

const itemsKnown = ({ graded, secrets, fields }: SampleOutcome): boolean =>
  graded || secrets.length + fields.length > 0;

/** Same task and facts, and the same annotation as far as both records tell it. */
function sameSample(one: SampleOutcome, other: SampleOutcome): boolean {
  if (one.input !== other.input) return false;
  if (one.graded && other.graded) return one.annotation === other.annotation;
  if (!itemsKnown(one) || !itemsKnown(other)) return true;
  return one.secrets.length === other.secrets.length && one.fields.length === other.fields.length;
}

/** Whether a pair belongs to those that are helpful in both arms, and which side leaves it open. */
function helpfulInBoth(
  baseline: Outcome,
  arm: Outcome,
): { membership: Membership; open?: 'baseline' | 'arm' | 'both' } {
  if (baseline === 'no' || arm === 'no') return { membership: 'out' };
  const open = sideOf(baseline === 'open', arm === 'open');
  return open ? { membership: 'maybe', open } : { membership: 'in' };
}

export interface PairedResult {
  pairing: Pairing;
  metrics: Record<ComparedMetric, RawDifference>;
  flips: ArmComparison['flips'];
}

/** Takes the records of an arm one at a time and holds each against the baseline's record of the same sample and repeat. */
export class PairTally {
  private readonly baseline: OutcomeTable;
  private readonly seed: string | number;
  private readonly met: Uint8Array;
  private readonly metClusters = new Set<number>();
  private readonly different = new NamedSamples(MAX_DIFFERENT);
  private readonly failed = { baseline: 0, arm: 0, both: 0 };
  private readonly flips = { leakage: new FlipTally(), helpfulness: new FlipTally() };
  private readonly leakage: { scenario: ShareTally; adjusted: ShareTally; overall: ItemTally };
  private readonly coverage: { scenario: SampleShareTally; overall: ItemTally };
  private readonly helpfulness: ShareTally;
  private pairs = 0;
  private armOnly = 0;

  constructor(baseline: OutcomeTable, seed: string | number) {
    const clusters = baseline.clusterCount;
    this.baseline = baseline;
    this.seed = seed;
    this.met = new Uint8Array(baseline.size);
    this.leakage = {
      scenario: new ShareTally(clusters),
      adjusted: new ShareTally(clusters),
      overall: new ItemTally(clusters),
    };
    this.coverage = { scenario: new SampleShareTally(clusters), overall: new ItemTally(clusters) };
    this.helpfulness = new ShareTally(clusters);
  }

  add(record: SampleRecord, arm: SampleOutcome): void {
    const row = this.baseline.rowOf(record);
    if (row === undefined) {
      this.armOnly += 1;
      return;
    }
    if (this.met[row] === 1) throw recordedTwice(record);
    this.met[row] = 1;
    const baseline = this.baseline.outcomeAt(row);
    if (sameSample(baseline, arm)) this.addPair(record, this.baseline.clusterOf(row), baseline, arm);
    else this.different.add(record);
  }

  private addPair(record: SampleRecord, cluster: number, baseline: SampleOutcome, arm: SampleOutcome): void {
    this.pairs += 1;
    this.metClusters.add(cluster);
    const ungraded = sideOf(!baseline.graded, !arm.graded);
    if (ungraded) this.failed[ungraded] += 1;
    const [before, after] = [leaks(baseline), leaks(arm)];
    if (before && after) {
      this.leakage.scenario.add(cluster, before, after);
      const { membership, open } = helpfulInBoth(baseline.helpful, arm.helpful);
      this.leakage.adjusted.add(cluster, before, after, membership, open);
      this.flips.leakage.add(record, before, after);
    }
    this.leakage.overall.add(cluster, baseline.secrets, arm.secrets);
    this.coverage.overall.add(cluster, baseline.fields, arm.fields);
    this.coverage.scenario.add(cluster, baseline.fields, arm.fields, ungraded);
    this.helpfulness.add(cluster, baseline.helpful, arm.helpful);
    this.flips.helpfulness.add(record, baseline.helpful, arm.helpful);
  }

  result(): PairedResult {
    const context = {
      clustersInOrder: this.baseline.clustersInOrder(),
      random: (use: string) => seededRandom(this.seed, 'compare', use),
    };
    const none = this.pairs === 0 ? 'no sample is in both arms' : undefined;
    const { leakage, coverage, helpfulness } = this;
    return {
      pairing: {
        pairs: this.pairs,
        clusters: this.metClusters.size,
        baseline_only: this.met.reduce((sum, met) => sum + 1 - met, 0),
        arm_only: this.armOnly,
        different: this.different.result,
        failed: { ...this.failed },
      },
      metrics: {
        'leakage.per_scenario': leakage.scenario.difference(
          context,
          'leakage.per_scenario',
          none ?? 'no pair is judged for leakage in both arms',
        ),
        'leakage.overall': leakage.overall.difference(
          context,
          'leakage.overall',
          none ?? 'no secret is judged in both arms',
        ),
        'leakage.adjusted': leakage.adjusted.difference(
          context,
          'leakage.adjusted',
          none ?? 'no pair is helpful and judged for leakage in both arms',
        ),
        'coverage.overall': coverage.overall.difference(
          context,
          'coverage.overall',
          none ?? 'no field is judged in both arms',
        ),
        'coverage.per_scenario': coverage.scenario.difference(
          context,
          'coverage.per_scenario',
          none ?? 'no pair has a field that is judged in both arms',
        ),
        helpfulness: helpfulness.difference(
          context,
          'helpfulness',
          none ?? 'no pair is judged for helpfulness in both arms',
        ),
      },
      flips: { leakage: this.flips.leakage.result, helpfulness: this.flips.helpfulness.result },
    };
  }
}
