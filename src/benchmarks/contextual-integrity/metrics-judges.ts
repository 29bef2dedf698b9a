import { addCounts } from '../../lib/add-counts.ts';
import { sha256 } from '../../lib/hash.ts';
import { seededRandom } from '../../lib/random.ts';
import type { CiGrade, ItemVerdict, ScoreVerdict } from '../../schema/ci-grade.ts';
import {
  type DisputedItem,
  type MajorityCounts,
  type Panel,
  type PanelSide,
  panelSides,
} from '../../schema/ci-panel.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { cohenKappa } from '../../stats/kappa.ts';
import {
  addCoincidences,
  type Coincidences,
  coincidencesOf,
  krippendorffAlpha,
  noCoincidences,
} from '../../stats/krippendorff.ts';
import { TopList } from '../../stats/top-list.ts';
import { majorityScore, majorityVerdict, panelJudges } from './judge-majority.ts';
import { type Outcome, outcomeOf } from './metrics-observe.ts';

/** As many disputed items as a reader goes through. */
const MAX_LISTED = 100;

type Where = Pick<SampleRecord, 'sample_id' | 'repeat'> & { group: string };
type Say = { side: PanelSide; key?: string; value?: DisputedItem['value']; outcomes: Outcome[]; majority: MajorityKey };
type MajorityKey = keyof MajorityCounts;
type PairCounts = Omit<Panel['pairs'][number]['secret'], 'kappa'>;

const noPair = (): PairCounts => ({ both_yes: 0, both_no: 0, first_only: 0, second_only: 0, not_compared: 0 });
const bySide = <T>(make: (side: PanelSide) => T): Record<PanelSide, T> => ({
  secret: make('secret'),
  field: make('field'),
  helpful: make('helpful'),
});

const sorted = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * Groups for the bootstrap of alpha: clusters of samples, thrown together by hash where there are more than 4,096, so
 * that memory is bounded and the order of records does not matter. In each, how many items have so many yes and no.
 */
class VoteGroups {
  private readonly groups = new Map<string, Map<string, number>>();

  add(name: string, yes: number, no: number): void {
    const group = this.groups.get(name) ?? new Map<string, number>();
    this.groups.set(name, group);
    const pattern = `${yes} ${no}`;
    group.set(pattern, (group.get(pattern) ?? 0) + 1);
  }

  merge(other: VoteGroups): void {
    for (const [name, patterns] of other.groups) {
      const group = this.groups.get(name) ?? new Map<string, number>();
      this.groups.set(name, group);
      for (const [pattern, count] of patterns) group.set(pattern, (group.get(pattern) ?? 0) + count);
    }
  }

  coincidences(): Coincidences[] {
    return sorted(this.groups).map(([, group]) =>
      sorted(group)
        .map(([pattern, weight]) => coincidencesOf(pattern.split(' ').map(Number), weight))
        .reduce(addCoincidences, noCoincidences(2)),
    );
  }
}

/**
 * How the judge models of one arm's panel agree. Records whose panel has one alone are passed over, and so are the
 * verdicts of judges that were kept from an earlier grading.
 */
export class PanelTally {
  private readonly judges = new Set<string>();
  private readonly pairs = new Map<string, Record<PanelSide, PairCounts>>();
  private readonly groups = bySide(() => new VoteGroups());
  private readonly majority = bySide((): MajorityCounts => ({ yes: 0, no: 0, tie: 0, too_few: 0 }));
  private readonly disputed = bySide(() => 0);
  private readonly listed = new TopList<DisputedItem>(MAX_LISTED, inOrder);

  add({ sample_id, repeat, cluster }: Pick<SampleRecord, 'sample_id' | 'repeat' | 'cluster'>, grade: CiGrade): void {
    const judges = panelJudges(grade.judges);
    if (judges.length < 2) return;
    for (const id of judges) this.judges.add(id);
    const where = { sample_id, repeat, group: sha256(cluster).slice(0, 3) };
    for (const say of sayings(grade, judges)) this.count(where, judges, say);
  }

  merge(other: PanelTally): void {
    for (const judge of other.judges) this.judges.add(judge);
    for (const [name, sides] of other.pairs) {
      const known = this.pairs.get(name) ?? bySide(noPair);
      this.pairs.set(name, known);
      for (const side of panelSides) addCounts(known[side], sides[side]);
    }
    for (const side of panelSides) {
      this.groups[side].merge(other.groups[side]);
      addCounts(this.majority[side], other.majority[side]);
      this.disputed[side] += other.disputed[side];
    }
    this.listed.merge(other.listed);
  }

  private count({ group, ...where }: Where, judges: readonly string[], say: Say): void {
    const { side, outcomes, majority, ...item } = say;
    const yes = outcomes.filter((outcome) => outcome === 'yes').length;
    const no = outcomes.filter((outcome) => outcome === 'no').length;
    this.groups[side].add(group, yes, no);
    this.majority[side][majority] += 1;
    for (const [i, first] of judges.entries()) {
      for (const [j, second] of judges.entries()) {
        if (j > i) countPair(this.pair(first, second)[side], outcomes[i] as Outcome, outcomes[j] as Outcome);
      }
    }
    if (yes === 0 || no === 0) return;
    this.disputed[side] += 1;
    const votes = judges.map((judge, i) => {
      const outcome = outcomes[i] as Outcome;
      return { judge, says: outcome === 'open' ? ('unjudged' as const) : outcome };
    });
    this.listed.add({ ...where, side, ...item, votes });
  }

  private pair(first: string, second: string): Record<PanelSide, PairCounts> {
    const name = JSON.stringify([first, second]);
    const known = this.pairs.get(name) ?? bySide(noPair);
    this.pairs.set(name, known);
    return known;
  }

  /** Nothing where no grade has several judge models. */
  result(seed: string | number): Panel | undefined {
    if (this.judges.size < 2) return undefined;
    return {
      judges: [...this.judges].sort(),
      pairs: sorted(this.pairs).map(([name, counts]) => {
        const [first, second] = JSON.parse(name) as [string, string];
        return { first, second, ...bySide((side) => ({ ...counts[side], kappa: kappaOf(counts[side]) })) };
      }),
      alpha: bySide((side) => {
        const random = seededRandom(seed, 'panel_alpha', side);
        return krippendorffAlpha(this.groups[side].coincidences(), { random });
      }),
      majority: bySide((side) => ({ ...this.majority[side] })),
      disputed: { ...this.disputed, listed: [...this.listed.values] },
    };
  }
}

/** Every item of a grade, and its message as a whole, with what each judge says and what the panel comes to. */
function sayings(grade: CiGrade, judges: readonly string[]): Say[] {
  const items = (side: 'secret' | 'field', list: CiGrade['secrets']): Say[] =>
    list.map(({ key, value, verdicts }) => {
      const votes = judges.map((judge) => verdicts[judge]);
      const outcomes = votes.map((vote) => outcomeOf(vote));
      return { side, key, value, outcomes, majority: majorityKey(majorityVerdict(votes)) };
    });
  const scores = judges.map((judge) => grade.helpfulness[judge]);
  const threshold = grade.helpfulness_threshold;
  const helpful = asHelpful(majorityScore(scores, threshold), threshold);
  return [
    ...items('secret', grade.secrets),
    ...items('field', grade.fields),
    {
      side: 'helpful',
      outcomes: scores.map((score) => outcomeOf(asHelpful(score, threshold))),
      majority: majorityKey(helpful as ItemVerdict),
    },
  ];
}

/** A score as the yes or no that metrics rest on. */
function asHelpful(score: ScoreVerdict | undefined, threshold: number): ItemVerdict | undefined {
  return score?.status === 'judged' ? { status: 'judged', value: score.value >= threshold } : score;
}

function majorityKey(verdict: ItemVerdict): MajorityKey {
  if (verdict.status === 'judged') return verdict.value ? 'yes' : 'no';
  return verdict.reason === 'tie' ? 'tie' : 'too_few';
}

function countPair(counts: PairCounts, first: Outcome, second: Outcome): void {
  if (first === 'open' || second === 'open') counts.not_compared += 1;
  else if (first === second) counts[first === 'yes' ? 'both_yes' : 'both_no'] += 1;
  else counts[first === 'yes' ? 'first_only' : 'second_only'] += 1;
}

function kappaOf({ both_yes, both_no, first_only, second_only }: PairCounts) {
  return cohenKappa([
    [both_yes, first_only],
    [second_only, both_no],
  ]);
}

/** By sample, repeat, side and key: an order that does not depend on the order of records. */
function inOrder(a: DisputedItem, b: DisputedItem): number {
  if (a.sample_id !== b.sample_id) return a.sample_id < b.sample_id ? -1 : 1;
  if (a.repeat !== b.repeat) return a.repeat - b.repeat;
  if (a.side !== b.side) return panelSides.indexOf(a.side) - panelSides.indexOf(b.side);
  if (a.key === b.key) return 0;
  return (a.key ?? '') < (b.key ?? '') ? -1 : 1;
}
