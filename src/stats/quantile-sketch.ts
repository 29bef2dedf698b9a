import { ExactSum } from './exact-sum.ts';

const GAMMA = 1.01;
const LOG_GAMMA = Math.log(GAMMA);

/**
 * Count, mean and quantiles of any number of non-negative values in bounded memory. A quantile is within 0.5 % of a value
 * of that rank (DDSketch: Masson, Rim and Lee, PVLDB 12, 2019); the mean is exact. The order of values does not matter.
 */
export class QuantileSketch {
  private readonly buckets = new Map<number, number>();
  private readonly total = new ExactSum();
  private zeros = 0;
  private least = Number.POSITIVE_INFINITY;
  private most = 0;
  count = 0;

  add(value: number): void {
    this.count += 1;
    this.total.add(value);
    this.least = Math.min(this.least, value);
    this.most = Math.max(this.most, value);
    if (value <= 0) {
      this.zeros += 1;
      return;
    }
    const bucket = Math.ceil(Math.log(value) / LOG_GAMMA);
    this.buckets.set(bucket, (this.buckets.get(bucket) ?? 0) + 1);
  }

  /** Adds all that another sketch has seen. */
  merge(other: QuantileSketch): void {
    this.count += other.count;
    this.total.merge(other.total);
    this.least = Math.min(this.least, other.least);
    this.most = Math.max(this.most, other.most);
    this.zeros += other.zeros;
    for (const [bucket, count] of other.buckets) this.buckets.set(bucket, (this.buckets.get(bucket) ?? 0) + count);
  }

  /** Undefined when nothing was added. */
  get mean(): number | undefined {
    return this.count === 0 ? undefined : this.total.value / this.count;
  }

  /** The value of rank ceil(q * count); undefined when nothing was added. */
  quantile(q: number): number | undefined {
    if (this.count === 0) return undefined;
    const rank = Math.max(1, Math.ceil(q * this.count));
    if (rank === this.count) return this.most;
    let seen = this.zeros;
    if (seen >= rank) return 0;
    for (const [bucket, count] of [...this.buckets].sort((a, b) => a[0] - b[0])) {
      seen += count;
      if (seen >= rank) {
        const middle = (2 * GAMMA ** bucket) / (GAMMA + 1);
        return Math.min(this.most, Math.max(this.least, middle));
      }
    }
    return this.most;
  }
}
