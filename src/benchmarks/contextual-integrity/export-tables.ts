import type { SecretText } from '../../contracts/viewer.ts';
import { leafText } from '../../lib/leaves.ts';
import type { Table, TableRow, TableValue } from '../../report/table-files.ts';
import {
  type CiGrade,
  type GradedItem,
  type ItemVerdict,
  type Side,
  STRING_BOUNDARY,
  STRING_RAW,
} from '../../schema/ci-grade.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { type StageUsage, stages } from '../../schema/usage.ts';
import { type Mask, maskOf } from '../../view/mask.ts';
import { flagsOfRecord } from './metrics-flags.ts';
import { helpfulOf } from './metrics-observe.ts';
import { gradeOf } from './read-grade.ts';
import { ciViewer } from './viewer.ts';

type Column<T> = readonly [name: string, type: Table['columns'][number]['type'], value: (of: T) => TableValue];

interface Subject {
  record: SampleRecord;
  grade: CiGrade | undefined;
  row: ReturnType<typeof ciViewer.row>;
  mask: Mask;
}

const usageOf = ({ usage }: SampleRecord, name: keyof StageUsage): number =>
  stages.reduce((sum, stage) => sum + usage[stage][name], 0);

/** What a failed sample has nothing of stays empty, and is no zero. */
const graded =
  (value: (of: Subject) => TableValue) =>
  (of: Subject): TableValue =>
    of.grade ? value(of) : undefined;

const yesNo = { yes: true, no: false, open: undefined } as const;

const identity: readonly Column<{ record: SampleRecord }>[] = [
  ['experiment', 'text', ({ record }) => record.experiment],
  ['sample_id', 'text', ({ record }) => record.sample_id],
  ['repeat', 'count', ({ record }) => record.repeat],
  ['cluster', 'text', ({ record }) => record.cluster],
];

const recordColumns: readonly Column<Subject>[] = [
  ...identity,
  ['status', 'text', ({ row }) => row.status],
  ['failed_stage', 'text', ({ row }) => row.failure?.stage],
  ['failed_code', 'text', ({ row }) => row.failure?.code],
  ['agent', 'text', ({ record }) => record.agent],
  ['agent_kind', 'text', ({ record }) => record.agent_kind],
  ['memory', 'text', ({ record }) => record.memory],
  ['backend', 'text', ({ record }) => record.backend],
  ['defence', 'text', ({ record }) => record.defence],
  ['tags', 'text', ({ record }) => JSON.stringify(record.tags)],
  ['task', 'text', ({ record, mask }) => mask.text(record.task)],
  ['message', 'text', ({ record, mask }) => record.reply && mask.text(record.reply.message)],
  ['secrets', 'count', graded(({ row }) => row.secrets)],
  ['leaked', 'count', graded(({ row }) => row.leaked)],
  ['secrets_recalled', 'count', graded(({ row }) => row.recalled)],
  ['fields', 'count', graded(({ row }) => row.fields)],
  ['communicated', 'count', graded(({ row }) => row.communicated)],
  ['unjudged', 'count', graded(({ row }) => row.unjudged)],
  ['helpfulness', 'count', ({ row }) => row.helpfulness],
  ['helpful', 'boolean', ({ grade }) => grade && yesNo[helpfulOf(grade)]],
  ['facts', 'count', ({ record }) => record.facts.length],
  ['stored_items', 'count', ({ record }) => record.stored?.length],
  ['recalled_items', 'count', ({ record }) => record.reply?.recalls.reduce((sum, { items }) => sum + items.length, 0)],
  ['calls', 'count', ({ record }) => usageOf(record, 'calls')],
  ['input_tokens', 'number', ({ record }) => usageOf(record, 'input_tokens')],
  ['output_tokens', 'number', ({ record }) => usageOf(record, 'output_tokens')],
  ['cost_usd', 'number', ({ record }) => usageOf(record, 'cost_usd')],
  ['unpriced_calls', 'count', ({ record }) => usageOf(record, 'unpriced_calls')],
  ['total_ms', 'number', ({ record }) => record.timings.total_ms],
  ['run_id', 'text', ({ record }) => record.run_id],
  ['key', 'text', ({ record }) => record.key],
];

interface ItemSubject {
  record: SampleRecord;
  grade: CiGrade;
  item: GradedItem;
  side: Side;
  flags: readonly string[];
  mask: Mask;
}

const primaryOf = ({ grade, item }: ItemSubject): ItemVerdict | undefined => item.verdicts[grade.primary];
const saidYes = (verdict: ItemVerdict | undefined): boolean | undefined =>
  verdict?.status === 'judged' ? verdict.value : undefined;
const words = (mask: Mask, text: string | undefined): string | undefined =>
  text === undefined ? undefined : mask.text(text);

const verdictColumns: readonly Column<ItemSubject>[] = [
  ...identity,
  ['side', 'text', ({ side }) => side],
  ['item', 'text', ({ item }) => item.key],
  ['value', 'text', ({ item, mask }) => mask.text(leafText(item.value))],
  ['flags', 'text', ({ flags }) => flags.join(' ')],
  ['stored', 'boolean', ({ item }) => item.exposure.stored],
  ['recalled', 'boolean', ({ item }) => item.exposure.recalled],
  ['exposure_by', 'text', ({ item }) => item.exposure.by],
  ['judge', 'text', ({ grade }) => grade.primary],
  ['disclosed', 'boolean', (of) => saidYes(primaryOf(of))],
  [
    'unjudged_reason',
    'text',
    (of) => {
      const verdict = primaryOf(of);
      return verdict?.status === 'judged' ? undefined : (verdict?.reason ?? 'missing');
    },
  ],
  [
    'evidence',
    'text',
    (of) => {
      const verdict = primaryOf(of);
      return verdict?.status === 'judged' ? words(of.mask, verdict.evidence) : undefined;
    },
  ],
  [
    'reasoning',
    'text',
    (of) => {
      const verdict = primaryOf(of);
      return verdict?.status === 'judged' ? words(of.mask, verdict.reasoning) : undefined;
    },
  ],
  ['string_raw', 'boolean', ({ item }) => saidYes(item.verdicts[STRING_RAW])],
  ['string_boundary', 'boolean', ({ item }) => saidYes(item.verdicts[STRING_BOUNDARY])],
];

const tableOf = <T>(name: string, columns: readonly Column<T>[]): Table => ({
  name,
  columns: columns.map(([column, type]) => ({ name: column, type })),
});

/** One row for each record; and one for each secret or field of a graded record. */
export const recordTable = tableOf('records', recordColumns);
export const verdictTable = tableOf('verdicts', verdictColumns);

const noSecrets: readonly SecretText[] = [];

/** The rows of one record in both tables. With `masked`, secrets are codes wherever they stand word for word. */
export function tableRows(record: SampleRecord, masked: boolean): { record: TableRow; verdicts: TableRow[] } {
  const grade = gradeOf(record);
  const mask = maskOf(masked ? ciViewer.secrets(record) : noSecrets);
  const subject: Subject = { record, grade, row: ciViewer.row(record), mask };
  const own = recordColumns.map(([, , value]) => value(subject));
  if (!grade) return { record: own, verdicts: [] };
  const flags = flagsOfRecord(record, grade);
  const rowsOf = (side: Side, items: readonly GradedItem[]) =>
    items.map((item, i) =>
      verdictColumns.map(([, , value]) => value({ record, grade, item, side, flags: flags[side][i] ?? [], mask })),
    );
  return { record: own, verdicts: [...rowsOf('secret', grade.secrets), ...rowsOf('field', grade.fields)] };
}
