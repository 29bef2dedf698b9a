import type { PoolMetrics } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';

/** Sum, smallest and largest of whole numbers. */
class Span {
  private sum = 0;
  private count = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = 0;

  add(value: number): void {
    this.sum += value;
    this.count += 1;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
  }

  merge(other: Span): void {
    this.sum += other.sum;
    this.count += other.count;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
  }

  get result() {
    if (this.count === 0) return { mean: 0, min: 0, max: 0 };
    return { mean: this.sum / this.count, min: this.min, max: this.max };
  }
}

/** How large the pools were, and for how many records a search could not choose: it asked for all that there was. */
export class PoolTally {
  private readonly facts = new Span();
  private readonly distractors = new Span();
  private readonly sessions = new Span();
  private searched = 0;
  private covered = 0;

  add({ facts, stored, reply }: SampleRecord): void {
    this.facts.add(facts.length);
    this.distractors.add(facts.filter(({ distractor }) => distractor).length);
    this.sessions.add(new Set(facts.flatMap(({ session }) => session ?? [])).size);
    const asked = (reply?.recalls ?? []).flatMap(({ requested_k }) => requested_k ?? []);
    const held = (stored ?? facts).length;
    if (asked.length === 0 || held === 0) return;
    this.searched += 1;
    if (Math.max(...asked) >= held) this.covered += 1;
  }

  merge(other: PoolTally): void {
    for (const span of ['facts', 'distractors', 'sessions'] as const) this[span].merge(other[span]);
    this.searched += other.searched;
    this.covered += other.covered;
  }

  result(): PoolMetrics {
    const { facts, distractors, sessions, searched, covered } = this;
    return {
      facts: facts.result,
      distractors: distractors.result,
      sessions: sessions.result,
      searched,
      covered,
    };
  }
}
