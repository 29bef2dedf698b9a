import type { Regrading } from '../../contracts/plugin.ts';
import { HeamsError } from '../../lib/errors.ts';
import { canonicalJson } from '../../lib/hash.ts';
import {
  type CiGrade,
  ciGradeSchema,
  type GradedItem,
  type ItemVerdict,
  type JudgeInfo,
} from '../../schema/ci-grade.ts';
import type { CiConfig } from '../../schema/contextual-integrity.ts';
import type { Json } from '../../schema/json.ts';
import { evaluatorsOf } from './config.ts';
import type { KnownVerdicts } from './judge.ts';
import { judgeIdentity, llmJudgeId } from './judge-llm.ts';
import type { CiItem, CiSample } from './sample.ts';

/** The grade that a message has already; one of another shape is as good as none, and the message is judged anew. */
export function readEarlier(earlier: Json | undefined): CiGrade | undefined {
  return earlier === undefined ? undefined : ciGradeSchema.safeParse(earlier).data;
}

const sameItem = (a: Pick<CiItem, 'key' | 'value'>, b: Pick<CiItem, 'key' | 'value'>) =>
  a.key === b.key && canonicalJson(a.value) === canonicalJson(b.value);

/** The graded item about the same value; annotations may have changed since. */
const earlierItem = (items: readonly GradedItem[], item: Pick<CiItem, 'key' | 'value'>): GradedItem | undefined =>
  items.find((one) => sameItem(one, item));

/**
 * What a judge of the same identity has said about the same items. An unjudged verdict is not known: it is asked for
 * again. A judge without an identity, from before there were any, is nobody's double.
 */
export function knownVerdicts(earlier: CiGrade, judge: JudgeInfo, sample: CiSample): KnownVerdicts {
  const ids = earlier.judges
    .filter(({ identity }) => identity !== undefined && identity === judge.identity)
    .map(({ id }) => id);
  const known = <V extends { status: string }>(verdicts: Readonly<Record<string, V>> = {}): V | undefined =>
    ids.map((id) => verdicts[id]).find((verdict) => verdict?.status === 'judged');
  const ofItems = (items: readonly CiItem[], graded: readonly GradedItem[]) =>
    items.map((item) => known<ItemVerdict>(earlierItem(graded, item)?.verdicts));
  return {
    secrets: ofItems(sample.data.secrets, earlier.secrets),
    fields: ofItems(sample.data.fields, earlier.fields),
    helpfulness: known(earlier.helpfulness),
  };
}

/**
 * A new grade with the verdicts of earlier judges beside the new ones. Where an id stands in both, the new verdict is the
 * one that is kept. Kept judges are marked `earlier`. How far an item came is taken over as well: it was told by what the memory declared at the time.
 */
export function besideEarlier(fresh: CiGrade, earlier: CiGrade): CiGrade {
  const kept = earlier.judges
    .filter(({ id }) => !fresh.judges.some((judge) => judge.id === id))
    .map((judge): JudgeInfo => ({ ...judge, earlier: true }));
  const ids = new Set(kept.map(({ id }) => id));
  const pick = <V>(verdicts: Readonly<Record<string, V>> = {}) =>
    Object.fromEntries(Object.entries(verdicts).filter(([id]) => ids.has(id)));
  const beside = (items: readonly GradedItem[], before: readonly GradedItem[]) =>
    items.map((item): GradedItem => {
      const same = earlierItem(before, item);
      if (!same) return item;
      return { ...item, exposure: same.exposure, verdicts: { ...item.verdicts, ...pick(same.verdicts) } };
    });
  return {
    ...fresh,
    judges: [...fresh.judges, ...kept],
    secrets: beside(fresh.secrets, earlier.secrets),
    fields: beside(fresh.fields, earlier.fields),
    helpfulness: { ...fresh.helpfulness, ...pick(earlier.helpfulness) },
  };
}

/** Identities by judge id, over grades; a judge without one counts as an identity of its own. */
async function identitiesOf(grades: AsyncIterable<Json>): Promise<Map<string, Set<string>>> {
  const identities = new Map<string, Set<string>>();
  for await (const json of grades) {
    for (const { id, identity = '' } of readEarlier(json)?.judges ?? []) {
      identities.set(id, (identities.get(id) ?? new Set()).add(identity));
    }
  }
  return identities;
}

/**
 * The config for grading messages again: with another judge model where one is named, and with the ids that belong to
 * judges of other prompts or settings, so that the new judges get ids of their own.
 */
export async function regradedConfig(config: CiConfig, { judgeModelId, grades }: Regrading): Promise<CiConfig> {
  const { evaluator } = config;
  if (evaluator.type !== 'ci_llm_judge') {
    if (judgeModelId === undefined) return config;
    throw new HeamsError('this benchmark file has no judge model to replace', {
      code: 'grade_no_judge_model',
      expected: 'evaluator.type: ci_llm_judge, with its prompts',
      found: evaluator.type,
      hint: 'name a benchmark file with a ci_llm_judge',
    });
  }
  const { taken_judge_ids: _, ...own } = evaluator;
  const changed = judgeModelId === undefined ? own : { ...own, judge_model_id: judgeModelId };
  const earlier = await identitiesOf(grades);
  const taken = evaluatorsOf(changed).flatMap((one) => {
    const id = llmJudgeId(one);
    const others = [...(earlier.get(id) ?? [])].filter((identity) => identity !== judgeIdentity(one));
    return others.length === 0 ? [] : [id];
  });
  return { ...config, evaluator: taken.length === 0 ? changed : { ...changed, taken_judge_ids: taken } };
}
