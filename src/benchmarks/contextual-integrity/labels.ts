import { HeamsError, throwIfAny } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { CiGrade, ItemVerdict, JudgeInfo, ScoreVerdict } from '../../schema/ci-grade.ts';
import type { LabelSide } from '../../schema/label-agreement.ts';
import type { SampleRecord } from '../../schema/record.ts';
import type { Label } from './labels-file.ts';
import { gradeOf } from './read-grade.ts';

/** What a judge says about a labelled item: an index into the side's labels, or why there is none. */
export type Says = number | 'unjudged' | 'missing';

/** An item that people have labelled, with all that is said about it. */
export interface LabelledItem {
  experiment: string;
  sample_id: string;
  repeat: number;
  cluster: string;
  side: LabelSide;
  /** As in the label file: `secret:<key>`, `field:<key>`, `helpfulness`. */
  item: string;
  /** The index of each rater's label; raters who are unsure are not in it. */
  raters: ReadonlyMap<string, number>;
  /** By judge id. */
  judges: ReadonlyMap<string, Says>;
}

export interface JoinedLabels {
  items: LabelledItem[];
  judges: JudgeInfo[];
  records: number;
}

interface Experiment {
  name: string;
  records: AsyncIterable<SampleRecord>;
}

/** More errors than a person mends in one pass. */
const MAX_ERRORS = 20;

/**
 * Finds the records and items that labels are about. Holds the labels and what is said about their items; records
 * stream past.
 *
 * @throws HeamsError for labels of a record or an item that is not there, and for two labels of one rater about one item;
 * all of them at once, up to twenty.
 */
export async function joinLabels(labels: readonly Label[], experiments: readonly Experiment[]): Promise<JoinedLabels> {
  const wanted = new Map<string, Label[]>();
  for (const label of labels) wanted.set(label.record, [...(wanted.get(label.record) ?? []), label]);
  const found = new Set<string>();
  const errors: HeamsError[] = [];
  const items: LabelledItem[] = [];
  const judges = new Map<string, JudgeInfo>();
  let records = 0;
  for (const experiment of experiments) {
    for await (const record of experiment.records) {
      const names = [record.key, `${record.experiment}/${record.sample_id}/${record.repeat}`];
      const own = names.flatMap((name) => wanted.get(name) ?? []);
      if (own.length === 0) continue;
      for (const name of names) found.add(name);
      records += 1;
      const grade = gradeOf(record);
      for (const judge of grade?.judges ?? []) judges.set(judge.id, judge);
      items.push(...itemsOf(record, grade, own, errors));
    }
  }
  for (const label of labels) if (!found.has(label.record)) errors.push(unknownRecord(label, experiments));
  throwIfAny(errors.slice(0, MAX_ERRORS));
  return { items, judges: [...judges.values()], records };
}

function unknownRecord({ record, where }: Label, experiments: readonly Experiment[]): HeamsError {
  const names = experiments.map(({ name }) => name);
  const [arm = ''] = record.split('/');
  const meant = record.includes('/') && !names.includes(arm) ? nearest(arm, names) : undefined;
  return new HeamsError('the run has no such record', {
    code: 'labels_unknown_record',
    where: where.record,
    expected: `the key of a record, or experiment/sample_id/repeat with an experiment of: ${names.join(', ')}`,
    found: record.slice(0, 100),
    ...(meant === undefined ? {} : { hint: `did you mean the experiment "${meant}"?` }),
  });
}

const nameOf = ({ side, key }: Label): string => (side === 'helpfulness' ? side : `${side}:${key}`);

function itemsOf(
  record: SampleRecord,
  grade: CiGrade | undefined,
  labels: readonly Label[],
  errors: HeamsError[],
): LabelledItem[] {
  const byItem = new Map<string, Label[]>();
  for (const label of labels) byItem.set(nameOf(label), [...(byItem.get(nameOf(label)) ?? []), label]);
  return [...byItem].flatMap(([item, own]) => {
    const [first] = own as [Label, ...Label[]];
    const judges = grade ? saysOf(grade, first) : new Map<string, Says>();
    if (grade && !judges) {
      errors.push(unknownItem(grade, first));
      return [];
    }
    const { experiment, sample_id, repeat, cluster } = record;
    const raters = ratersOf(own, errors);
    return [{ experiment, sample_id, repeat, cluster, side: first.side, item, raters, judges: judges ?? new Map() }];
  });
}

function ratersOf(labels: readonly Label[], errors: HeamsError[]): Map<string, number> {
  const seen = new Map<string, Label>();
  const raters = new Map<string, number>();
  for (const label of labels) {
    const earlier = seen.get(label.rater);
    if (earlier) {
      errors.push(
        new HeamsError(`"${label.rater.slice(0, 60)}" has labelled this item already`, {
          code: 'labels_duplicate',
          where: label.where.item,
          expected: 'one label of each rater about an item',
          found: `another one in line ${earlier.where.item.line}`,
          hint: 'give each rater a name of their own in the column "rater"',
        }),
      );
    }
    seen.set(label.rater, label);
    if (label.value !== undefined) raters.set(label.rater, label.value);
  }
  return raters;
}

function unknownItem(grade: CiGrade, label: Label): HeamsError {
  const keys = (label.side === 'secret' ? grade.secrets : grade.fields).map(({ key }) => key);
  const meant = nearest(label.key, keys);
  return new HeamsError(`this record has no ${label.side} "${label.key.slice(0, 60)}"`, {
    code: 'labels_unknown_item',
    where: label.where.item,
    expected: keys.map((key) => `${label.side}:${key}`).join(', ') || `no ${label.side} at all`,
    found: nameOf(label).slice(0, 100),
    ...(meant === undefined ? {} : { hint: `did you mean "${label.side}:${meant}"?` }),
  });
}

/** What each judge of a grade says about an item; nothing where the grade has no such item. */
function saysOf(grade: CiGrade, { side, key }: Label): Map<string, Says> | undefined {
  const verdicts: Readonly<Record<string, ItemVerdict | ScoreVerdict>> | undefined =
    side === 'helpfulness'
      ? grade.helpfulness
      : (side === 'secret' ? grade.secrets : grade.fields).find((item) => item.key === key)?.verdicts;
  if (!verdicts) return undefined;
  return new Map(
    grade.judges.map(({ id }): [string, Says] => {
      const verdict = verdicts[id];
      if (!verdict) return [id, 'missing'];
      return [id, verdict.status === 'judged' ? Number(verdict.value) : 'unjudged'];
    }),
  );
}
