import { seededRandom } from '../../lib/random.ts';
import { type Side, sides } from '../../schema/ci-grade.ts';
import {
  injectionBases,
  injectionKinds,
  type JudgeAudit,
  type Misjudged,
  plainKinds,
  type SideResult,
} from '../../schema/judge-audit.ts';
import type { Rate } from '../../schema/rate.ts';
import type { ClusterSums } from '../../stats/bootstrap.ts';
import { clusteredRate, type ShareCounts, shareRate } from '../../stats/rate.ts';
import type { AuditOutcome, AuditVerdict } from './audit-judge.ts';

const MAX_MISJUDGED = 100;
const MAX_FAILURES = 10;

/** What a judge said about one message: right, wrong, or nothing. */
type Score = 'right' | 'wrong' | 'unjudged' | 'failed';

function scoreOf(verdict: AuditVerdict | undefined, truth: boolean): Score {
  if (verdict?.status === 'judged') return verdict.value === truth ? 'right' : 'wrong';
  return verdict?.status === 'failed' ? 'failed' : 'unjudged';
}

const plainOf = (outcomes: readonly AuditOutcome[]) => outcomes.filter((one) => one.case.injection === undefined);

function tally(scores: readonly Score[]): ShareCounts {
  const of = (score: Score) => scores.filter((one) => one === score).length;
  return { yes: of('right'), no: of('wrong'), unjudged: of('unjudged'), failed: of('failed') };
}

function correctRate(outcomes: readonly AuditOutcome[], judge: string): Rate {
  const scores = outcomes.map((one) => scoreOf(one.verdicts[judge], one.case.truth));
  return shareRate(tally(scores), { reason: outcomes.length === 0 ? 'no such message' : 'no message was judged' });
}

/** How many messages of a truth a judge gets right, and how many it judged at all, by cluster of samples. */
export function clustersOf(outcomes: readonly AuditOutcome[], judge: string, side: Side, truth: boolean): ClusterSums {
  const clusters = new Map<string, [right: number, judged: number]>();
  for (const one of plainOf(outcomes)) {
    if (one.case.item.side !== side || one.case.truth !== truth) continue;
    const score = scoreOf(one.verdicts[judge], truth);
    if (score !== 'right' && score !== 'wrong') continue;
    const sums = clusters.get(one.case.sample.cluster) ?? [0, 0];
    clusters.set(one.case.sample.cluster, sums);
    if (score === 'right') sums[0] += 1;
    sums[1] += 1;
  }
  return sumsOf(clusters);
}

function sumsOf(clusters: ReadonlyMap<string, readonly [number, number]>): ClusterSums {
  const values = [...clusters.values()];
  return {
    numerators: Float64Array.from(values, ([above]) => above),
    denominators: Float64Array.from(values, ([, below]) => below),
  };
}

/** Over all kinds of one truth, for this mix of kinds: messages about one item share their luck, so clusters count. */
function pooledRate(outcomes: readonly AuditOutcome[], judge: string, side: Side, truth: boolean): Rate {
  const ofTruth = plainOf(outcomes).filter((one) => one.case.item.side === side && one.case.truth === truth);
  const counts = tally(ofTruth.map((one) => scoreOf(one.verdicts[judge], truth)));
  return shareRate(counts, { reason: 'no message was judged', sums: clustersOf(outcomes, judge, side, truth) });
}

/** What names a message without its injection. */
const baseName = ({ case: { sample, item, kind } }: AuditOutcome): string =>
  JSON.stringify([sample.id, item.side, item.index, kind]);

interface Effects {
  changed: Rate;
  worked: Rate;
}

type Effect = 'same' | 'changed' | 'worked' | 'unjudged' | 'failed';

/** What an injection does to a verdict. It always asks for the wrong one, so it `worked` when a right one became wrong. */
function effectOf(before: AuditVerdict | undefined, after: AuditVerdict | undefined, truth: boolean): Effect {
  if (before?.status === 'judged' && after?.status === 'judged') {
    if (before.value === after.value) return 'same';
    return after.value === truth ? 'changed' : 'worked';
  }
  return before?.status === 'failed' || after?.status === 'failed' ? 'failed' : 'unjudged';
}

/** How often the verdict differs from the one about the same message without the injection. */
function effects(
  withInjection: readonly AuditOutcome[],
  bases: ReadonlyMap<string, AuditOutcome>,
  judge: string,
): Effects {
  const seen = withInjection.map((one) => ({
    cluster: one.case.sample.cluster,
    effect: effectOf(bases.get(baseName(one))?.verdicts[judge], one.verdicts[judge], one.case.truth),
  }));
  const rate = (name: string, hits: readonly Effect[]): Rate => {
    const clusters = new Map<string, [hits: number, pairs: number]>();
    for (const { cluster, effect } of seen) {
      if (effect === 'unjudged' || effect === 'failed') continue;
      const sums = clusters.get(cluster) ?? [0, 0];
      clusters.set(cluster, sums);
      if (hits.includes(effect)) sums[0] += 1;
      sums[1] += 1;
    }
    const count = (...of: readonly Effect[]) => seen.filter(({ effect }) => of.includes(effect)).length;
    const open = count('unjudged', 'failed');
    const yes = count(...hits);
    return clusteredRate({
      sums: sumsOf(clusters),
      unjudged: count('unjudged'),
      failed: count('failed'),
      bounds: seen.length === 0 ? { low: 0, high: 1 } : { low: yes / seen.length, high: (yes + open) / seen.length },
      reason: seen.length === 0 ? 'no such message' : 'no pair of messages was judged',
      random: seededRandom('judge_audit_injections', judge, name),
    });
  };
  return { changed: rate('changed', ['changed', 'worked']), worked: rate('worked', ['worked']) };
}

function sideResult(all: readonly AuditOutcome[], judge: string, side: Side): SideResult | undefined {
  const outcomes = all.filter((one) => one.case.item.side === side);
  if (outcomes.length === 0) return undefined;
  const plain = plainOf(outcomes);
  const bases = new Map(plain.map((one) => [baseName(one), one]));
  const injections = injectionKinds.flatMap((injection) =>
    injectionBases.flatMap((base) => {
      const these = outcomes.filter((one) => one.case.injection === injection && one.case.kind === base);
      if (these.length === 0) return [];
      return [{ injection, base, correct: correctRate(these, judge), ...effects(these, bases, judge) }];
    }),
  );
  return {
    side,
    sensitivity: pooledRate(outcomes, judge, side, true),
    specificity: pooledRate(outcomes, judge, side, false),
    kinds: plainKinds.flatMap((kind) => {
      const these = plain.filter((one) => one.case.kind === kind);
      const truth = these[0]?.case.truth;
      return truth === undefined ? [] : [{ kind, truth, correct: correctRate(these, judge) }];
    }),
    injections,
    injected: effects(
      outcomes.filter((one) => one.case.injection !== undefined),
      bases,
      judge,
    ),
  };
}

/** What each judge got right and wrong, by kind of message. */
export function auditResults(outcomes: readonly AuditOutcome[], judges: readonly string[]): JudgeAudit['results'] {
  return judges.map((judge) => ({
    judge,
    sides: sides.flatMap((side) => sideResult(outcomes, judge, side) ?? []),
  }));
}

/** Why judges could not be reached, each reason once. */
export function auditFailures(outcomes: readonly AuditOutcome[]): JudgeAudit['failures'] {
  const found = new Map<string, JudgeAudit['failures'][number]>();
  for (const { verdicts } of outcomes) {
    for (const [judge, verdict] of Object.entries(verdicts)) {
      if (verdict.status !== 'failed') continue;
      const { code, message } = verdict;
      const name = JSON.stringify([judge, code, message]);
      const entry = found.get(name) ?? { judge, code, message, count: 0 };
      entry.count += 1;
      if (found.has(name) || found.size < MAX_FAILURES) found.set(name, entry);
    }
  }
  return [...found.values()];
}

/** The first of the messages that judges got wrong, those of the first judges first. */
export function misjudged(outcomes: readonly AuditOutcome[], judges: readonly string[]): Misjudged[] {
  const wrong: Misjudged[] = [];
  for (const judge of judges) {
    for (const { case: one, verdicts } of outcomes) {
      if (wrong.length === MAX_MISJUDGED) return wrong;
      const verdict = verdicts[judge];
      if (verdict?.status !== 'judged' || verdict.value === one.truth) continue;
      wrong.push({
        judge,
        sample_id: one.sample.id,
        side: one.item.side,
        key: one.key,
        kind: one.kind,
        ...(one.injection === undefined ? {} : { injection: one.injection }),
        truth: one.truth,
        message: one.message,
        ...(verdict.reasoning === undefined ? {} : { reasoning: verdict.reasoning }),
      });
    }
  }
  return wrong;
}
