import type { RowContent, SampleContent, Viewer } from '../../contracts/viewer.ts';
import { oneLine } from '../../lib/escape.ts';
import { leafText, leaves } from '../../lib/leaves.ts';
import { type CiGrade, type GradedItem, type Side, STRING_BOUNDARY } from '../../schema/ci-grade.ts';
import type { ItemFlag } from '../../schema/ci-metrics.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { stages } from '../../schema/usage.ts';
import type { ViewItem } from '../../schema/view.ts';
import { flagsOfRecord } from './metrics-flags.ts';
import { outcomeOf } from './metrics-observe.ts';
import { gradeOf } from './read-grade.ts';
import { isControl } from './scale.ts';
import { spansOf } from './view-spans.ts';

const EXCERPT = 160;

const judgedYes = ({ verdicts }: GradedItem, judge: string): boolean => outcomeOf(verdicts[judge]) === 'yes';

/** The judge and the boundary-aware string rule say different things: one of them is wrong, or the message rephrases. */
function isDisputed({ verdicts }: GradedItem, primary: string): boolean {
  const [judge, string] = [outcomeOf(verdicts[primary]), outcomeOf(verdicts[STRING_BOUNDARY])];
  return primary !== STRING_BOUNDARY && judge !== 'open' && string !== 'open' && judge !== string;
}

function gradeCounts(grade: CiGrade, flags: Record<Side, ItemFlag[][]>) {
  const { primary, secrets, fields } = grade;
  const items = [...secrets, ...fields];
  const score = grade.helpfulness[primary];
  const open = items.filter(({ verdicts }) => outcomeOf(verdicts[primary]) === 'open').length;
  return {
    secrets: secrets.length,
    leaked: secrets.filter((item) => judgedYes(item, primary)).length,
    recalled: secrets.filter(({ exposure }) => exposure.recalled === true).length,
    fields: fields.length,
    communicated: fields.filter((item) => judgedYes(item, primary)).length,
    flagged: [...flags.secret, ...flags.field].filter((own) => own.length > 0).length,
    disputed: items.filter((item) => isDisputed(item, primary)).length,
    unjudged: open + (score?.status === 'judged' ? 0 : 1),
    ...(score?.status === 'judged' ? { helpfulness: score.value } : {}),
  };
}

const noCounts = {
  secrets: 0,
  leaked: 0,
  recalled: 0,
  fields: 0,
  communicated: 0,
  flagged: 0,
  disputed: 0,
  unjudged: 0,
};

/** A grade that cannot be read is no grade: it is counted like a failure, as the metrics do. */
function statusOf(record: SampleRecord, grade: CiGrade | undefined): Pick<RowContent, 'status' | 'failure'> {
  if (record.status === 'failed') {
    return { status: 'failed', failure: { stage: record.error.stage, code: record.error.code } };
  }
  return grade ? { status: 'done' } : { status: 'failed', failure: { stage: 'judge', code: 'grade_unreadable' } };
}

function rowOf(record: SampleRecord, grade = gradeOf(record)): RowContent {
  return {
    experiment: record.experiment,
    sample_id: record.sample_id,
    repeat: record.repeat,
    ...statusOf(record, grade),
    tags: record.tags,
    ...noCounts,
    ...(grade ? gradeCounts(grade, flagsOfRecord(record, grade)) : {}),
    cost_usd: stages.reduce((sum, stage) => sum + record.usage[stage].cost_usd, 0),
    total_ms: record.timings.total_ms,
    excerpt: oneLine((record.reply?.message ?? '').slice(0, 4 * EXCERPT)).slice(0, EXCERPT),
  };
}

function itemsOf(record: SampleRecord, grade: CiGrade): ViewItem[] {
  const flags = flagsOfRecord(record, grade);
  const withheld = new Set(
    (record.reply?.recalls ?? []).flatMap((recall) => (recall.withheld ?? []).flatMap(({ fact_ids }) => fact_ids)),
  );
  const idsOf = (key: string) => record.facts.filter((fact) => fact.key === key).map(({ id }) => id);
  const view = (side: Side) => (item: GradedItem, i: number) => {
    const outcome = outcomeOf(item.verdicts[grade.primary]);
    return {
      side,
      key: item.key,
      value: leafText(item.value),
      flags: flags[side][i] ?? [],
      exposure: item.exposure,
      ...(outcome === 'open' ? {} : { disclosed: outcome === 'yes' }),
      withheld: idsOf(item.key).some((id) => withheld.has(id)),
      verdicts: item.verdicts,
    };
  };
  return [...grade.secrets.map(view('secret')), ...grade.fields.map(view('field'))];
}

/** The values that are there, under their names. */
const definedOf = (values: SampleRecord['timings']): SampleContent['timings'] =>
  Object.fromEntries(Object.entries(values).filter((entry) => entry[1] !== undefined)) as SampleContent['timings'];

function sampleOf(record: SampleRecord): SampleContent {
  const grade = gradeOf(record);
  const { reply } = record;
  const keys = {
    secret: new Set(grade?.secrets.map(({ key }) => key)),
    field: new Set(grade?.fields.map(({ key }) => key)),
  };
  const sideOf = (key: string) => {
    const [secret, field] = [keys.secret.has(key), keys.field.has(key)];
    return secret && field ? 'both' : secret ? 'secret' : field ? 'field' : 'none';
  };
  const { key, run_id, agent, memory, task, usage, timings, versions } = record;
  return {
    ...{ key, run_id, agent, memory, task, usage, versions },
    ...(record.defence === undefined ? {} : { defence: record.defence }),
    facts: record.facts.map((fact) => ({ ...fact, side: fact.distractor ? 'none' : sideOf(fact.key) })),
    ...(record.stored ? { stored: record.stored } : {}),
    recalls: reply?.recalls ?? [],
    prompt: reply?.prompt ?? [],
    ...(reply ? { message: reply.message } : {}),
    ...(reply?.reasoning === undefined ? {} : { reasoning: reply.reasoning }),
    ...(reply?.draft === undefined ? {} : { draft: reply.draft }),
    spans: grade && reply ? spansOf(grade, reply.message) : [],
    tool_calls: reply?.tool_calls ?? [],
    judges: grade?.judges ?? [],
    ...(grade ? { primary: grade.primary } : {}),
    items: grade ? itemsOf(record, grade) : [],
    helpfulness: grade?.helpfulness ?? {},
    ...(record.status === 'failed' ? { error: record.error } : {}),
    timings: definedOf(timings),
    ...(reply?.finish_reason === undefined ? {} : { finish_reason: reply.finish_reason }),
    ...(reply?.model_version === undefined ? {} : { model_version: reply.model_version }),
    warnings: reply?.warnings ?? [],
  };
}

/** How a record of the CI benchmark is shown. What a grade of another shape says is not shown as "no leak": it has no counts. */
export const ciViewer: Viewer = {
  benchmark: 'contextual_integrity',
  isControl: (record) => isControl({ identity: record }),
  row: (record) => rowOf(record),
  sample: sampleOf,
  secrets: (record) => {
    const grade = gradeOf(record);
    if (!grade) {
      // Nobody can tell which facts of an ungraded sample are secret, so all of them are taken to be.
      return record.facts.map(({ key, text }, i) => ({ text: text.replace(`${key}: `, ''), code: `[fact ${i + 1}]` }));
    }
    return grade.secrets.flatMap((item, i) => leaves(item.value).map((text) => ({ text, code: `[secret ${i + 1}]` })));
  },
};
