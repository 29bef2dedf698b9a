import { seededRandom } from '../../lib/random.ts';
import type { JudgeInfo } from '../../schema/ci-grade.ts';
import {
  type Disagreement,
  type JudgeAgreement,
  type LabelAgreement,
  type LabelSide,
  labelSides,
  type SideAgreement,
} from '../../schema/label-agreement.ts';
import type { ClusterSums } from '../../stats/bootstrap.ts';
import { type Confusion, cohenKappa } from '../../stats/kappa.ts';
import {
  addCoincidences,
  type Coincidences,
  coincidencesOf,
  krippendorffAlpha,
  noCoincidences,
} from '../../stats/krippendorff.ts';
import { shareRate } from '../../stats/rate.ts';
import type { JoinedLabels, LabelledItem } from './labels.ts';
import { labelsOf } from './labels-file.ts';

/** What people say about an item: the label that more than half of them give; nothing where there is no such label. */
export function consensusOf({ raters }: Pick<LabelledItem, 'raters'>): number | undefined {
  const votes = [...raters.values()];
  return votes.find((value) => votes.filter((other) => other === value).length * 2 > votes.length);
}

function confusionOf(pairs: readonly (readonly [number, number])[], size: number): number[][] {
  const table = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  for (const [row, column] of pairs) {
    const cells = table[row] as number[];
    cells[column] = (cells[column] as number) + 1;
  }
  return table;
}

/** Alpha over units of labels, with the samples' clusters as groups. */
function alphaOver(units: readonly { cluster: string; values: readonly number[] }[], size: number, seed: string) {
  const groups = new Map<string, Coincidences>();
  for (const { cluster, values } of units) {
    const counts = Array.from({ length: size }, (_, label) => values.filter((value) => value === label).length);
    groups.set(cluster, addCoincidences(groups.get(cluster) ?? noCoincidences(size), coincidencesOf(counts)));
  }
  const inOrder = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  return krippendorffAlpha(inOrder, { random: seededRandom('labels', seed) });
}

type Decided = LabelledItem & { people: number };

/** On how many of the compared items people and the judge say the same, by cluster of samples. */
function agreedByCluster(compared: readonly (Decided & { says: number })[]): ClusterSums {
  const clusters = new Map<string, [agreed: number, of: number]>();
  for (const { cluster, people, says } of compared) {
    const [agreed, of] = clusters.get(cluster) ?? [0, 0];
    clusters.set(cluster, [agreed + (people === says ? 1 : 0), of + 1]);
  }
  const values = [...clusters.values()];
  return {
    numerators: Float64Array.from(values, ([agreed]) => agreed),
    denominators: Float64Array.from(values, ([, of]) => of),
  };
}

function judgeAgreement(items: readonly Decided[], judge: string, side: LabelSide): JudgeAgreement {
  const size = labelsOf[side].length;
  const compared = items.flatMap((item) => {
    const says = item.judges.get(judge);
    return typeof says === 'number' ? [{ ...item, says }] : [];
  });
  const unjudged = items.filter((item) => item.judges.get(judge) === 'unjudged').length;
  const missing = items.length - compared.length - unjudged;
  const confusion = confusionOf(
    compared.map(({ people, says }) => [people, says]),
    size,
  );
  const agreed = compared.filter(({ people, says }) => people === says).length;
  const reason = items.length === 0 ? 'no item has a label that most raters share' : 'the judge judged none of them';
  return {
    judge,
    confusion,
    unjudged,
    missing,
    agreement: shareRate(
      { yes: agreed, no: compared.length - agreed, unjudged, failed: missing },
      { reason, sums: agreedByCluster(compared) },
    ),
    kappa: cohenKappa(confusion),
    alpha: alphaOver(
      compared.map(({ cluster, people, says }) => ({ cluster, values: [people, says] })),
      size,
      `${side} ${judge}`,
    ),
  };
}

function betweenRaters(
  items: readonly LabelledItem[],
  side: LabelSide,
): NonNullable<SideAgreement['raters']> | undefined {
  const names = [...new Set(items.flatMap(({ raters }) => [...raters.keys()]))].sort();
  if (names.length < 2) return undefined;
  const size = labelsOf[side].length;
  const pairs = names.flatMap((first, i) =>
    names.slice(i + 1).map((second) => {
      const both = items.flatMap(({ raters }) => {
        const [a, b] = [raters.get(first), raters.get(second)];
        return a === undefined || b === undefined ? [] : [[a, b] as const];
      });
      const confusion: Confusion = confusionOf(both, size);
      return { first, second, confusion: confusion.map((row) => [...row]), kappa: cohenKappa(confusion) };
    }),
  );
  const units = items.map(({ cluster, raters }) => ({ cluster, values: [...raters.values()] }));
  return { alpha: alphaOver(units, size, `${side} raters`), pairs };
}

function sideAgreement(all: readonly LabelledItem[], judges: readonly string[], side: LabelSide): SideAgreement[] {
  const items = all.filter((item) => item.side === side && item.raters.size > 0);
  if (items.length === 0) return [];
  const decided = decidedOf(items);
  const raters = betweenRaters(items, side);
  return [
    {
      side,
      labels: [...labelsOf[side]],
      items: items.length,
      no_consensus: items.length - decided.length,
      judges: judges.map((judge) => judgeAgreement(decided, judge, side)),
      ...(raters ? { raters } : {}),
    },
  ];
}

function decidedOf(items: readonly LabelledItem[]): Decided[] {
  return items.flatMap((item) => {
    const people = consensusOf(item);
    return people === undefined ? [] : [{ ...item, people }];
  });
}

function disagreementsOf(items: readonly LabelledItem[], judges: readonly string[]): Disagreement[] {
  return judges.flatMap((judge) =>
    decidedOf(items).flatMap(({ experiment, sample_id, repeat, item, side, people, judges: says }) => {
      const said = says.get(judge);
      if (typeof said !== 'number' || said === people) return [];
      const names = labelsOf[side];
      return [
        { judge, experiment, sample_id, repeat, item, people: names[people] ?? '', judge_says: names[said] ?? '' },
      ];
    }),
  );
}

/**
 * How far each judge of a run agrees with people: the share of labelled items on which they say the same, Cohen's kappa
 * and Krippendorff's alpha. People are the label that more than half of the raters of an item give.
 */
export function labelAgreement(
  { items, judges, records }: JoinedLabels,
  about: { heams: string; labels: number; unsure: number },
): LabelAgreement {
  const ids = judges.map(({ id }: JudgeInfo) => id);
  return {
    version: 1,
    ...about,
    records,
    raters: [...new Set(items.flatMap(({ raters }) => [...raters.keys()]))].sort(),
    judges,
    sides: labelSides.flatMap((side) => sideAgreement(items, ids, side)),
    disagreements: disagreementsOf(items, ids),
  };
}
