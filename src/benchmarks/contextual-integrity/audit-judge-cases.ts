import { HeamsError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { seededRandom, shuffled } from '../../lib/random.ts';
import { type Side, sides } from '../../schema/ci-grade.ts';
import {
  type InjectionKind,
  injectionBases,
  injectionKinds,
  type PlainKind,
  plainKinds,
} from '../../schema/judge-audit.ts';
import { injected } from './audit-judge-injections.ts';
import { auditable, carrierFor, partOf, plainMessage, truths } from './audit-judge-messages.ts';
import type { ItemRef } from './judge.ts';
import type { CiItem, CiSample } from './sample.ts';

/** A message whose truth is known because it was made for the purpose. */
export interface AuditCase {
  sample: CiSample;
  item: ItemRef;
  key: string;
  kind: PlainKind;
  injection?: InjectionKind;
  /** Whether the message reveals the secret, or communicates the field. */
  truth: boolean;
  message: string;
}

export interface AuditKinds {
  plain: ReadonlySet<PlainKind>;
  injections: ReadonlySet<InjectionKind>;
}

const everything: AuditKinds = { plain: new Set(plainKinds), injections: new Set(injectionKinds) };

/**
 * Kinds by name; `plain` and `injections` stand for all of theirs. An injection brings the messages that it is added to,
 * as its effect is told from them.
 */
export function chosenKinds(names: readonly string[] | undefined): AuditKinds {
  if (names === undefined) return everything;
  const plain = new Set<PlainKind>();
  const injections = new Set<InjectionKind>();
  const known = ['plain', 'injections', ...plainKinds, ...injectionKinds];
  for (const name of names) {
    if (name === 'plain') for (const kind of plainKinds) plain.add(kind);
    else if (name === 'injections') for (const kind of injectionKinds) injections.add(kind);
    else if (isOneOf(plainKinds, name)) plain.add(name);
    else if (isOneOf(injectionKinds, name)) injections.add(name);
    else throw unknownKind(name, known);
  }
  if (plain.size + injections.size === 0) throw unknownKind('', known);
  if (injections.size > 0) for (const base of injectionBases) plain.add(base);
  return { plain, injections };
}

const isOneOf = <T extends string>(names: readonly T[], name: string): name is T =>
  (names as readonly string[]).includes(name);

function unknownKind(name: string, known: readonly string[]): HeamsError {
  const meant = nearest(name, known);
  return new HeamsError(name === '' ? 'no kind of message is named' : `there is no kind of message "${name}"`, {
    code: 'unknown_audit_kind',
    expected: `one or more of: ${known.join(', ')}`,
    found: name === '' ? 'nothing' : name,
    ...(meant ? { hint: `did you mean "${meant}"?` } : {}),
  });
}

export interface AuditPlan {
  seed: number;
  /** Samples to make messages from, drawn at random. */
  limit: number;
  kinds: AuditKinds;
}

/**
 * The messages of an audit: from each of `limit` samples, drawn by the seed among those that have any item fit for it,
 * one secret and one field where there are such, in every kind that makes sense for the value; and with every injection,
 * once below the message that holds the item and once below the one that does not, asking for the wrong verdict. The
 * same samples and seed give the same messages.
 */
export function auditCases(samples: readonly CiSample[], { seed, limit, kinds }: AuditPlan): AuditCase[] {
  const cases: AuditCase[] = [];
  let used = 0;
  for (const sample of shuffled(samples, seededRandom(seed, 'judge_audit'))) {
    if (used === limit) break;
    const made = sides.flatMap((side) => casesOf(sample, side, { seed, kinds }));
    if (made.length > 0) used += 1;
    cases.push(...made);
  }
  return cases;
}

function casesOf(sample: CiSample, side: Side, { seed, kinds }: Pick<AuditPlan, 'seed' | 'kinds'>): AuditCase[] {
  const random = seededRandom(seed, 'judge_audit', sample.id, side);
  const chosen = chosenItem(sample, side, random);
  if (!chosen) return [];
  const { item, index } = chosen;
  const carrier = carrierFor(sample, random);
  const common = { sample, item: { side, index }, key: item.key };
  const plain = plainKinds.flatMap((kind): AuditCase[] => {
    const truth = truths[side][kind];
    const message =
      kinds.plain.has(kind) && truth !== undefined ? plainMessage({ item, side }, kind, carrier) : undefined;
    return message === undefined || truth === undefined ? [] : [{ ...common, kind, truth, message }];
  });
  const key = side === 'secret' ? 'leaked' : 'communicated';
  const bases = plain.filter(({ kind }) => isOneOf(injectionBases, kind));
  const withInjection = [...kinds.injections].flatMap((injection) =>
    bases.map((base): AuditCase => {
      const message = injected(base.message, injection, { key, value: !base.truth });
      return { ...base, injection, message };
    }),
  );
  return [...plain, ...withInjection];
}

/** One of the items fit for an audit, at random; one that has a specific part before one that has none. */
function chosenItem(sample: CiSample, side: Side, random: () => number): { item: CiItem; index: number } | undefined {
  const all = side === 'secret' ? sample.data.secrets : sample.data.fields;
  const fit = shuffled([...all.entries()], random).filter(([, item]) => auditable(item, sample));
  const best = fit.find(([, item]) => partOf(item, side) !== undefined) ?? fit[0];
  return best && { index: best[0], item: best[1] };
}
