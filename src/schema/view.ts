import { z } from 'zod';
import { exposureSchema, itemVerdictSchema, judgeInfoSchema, scoreVerdictSchema, sides } from './ci-grade.ts';
import { ciMetricsSchema, itemFlags } from './ci-metrics.ts';
import { factSchema, failureSchema, recallSchema, storedItemSchema, toolCallSchema, turnSchema } from './record.ts';
import { usageSchema } from './usage.ts';

/**
 * What the viewer's page and its read API say to each other. The page parses every answer with these, whether it comes
 * from the server or from the files of a static export. All text is plain: nothing in it is markup.
 */

const count = z.int().nonnegative();

/** One arm: where its run stands, and what its records say so far. */
export const viewArmSchema = z.strictObject({
  experiment: z.string(),
  /** Of `run_status.json`; `unknown` where there is none. */
  state: z.enum(['running', 'done', 'done_with_failures', 'stopped', 'unknown']),
  planned: count.exactOptional(),
  records: count,
  /** Its records are being read for the first time: what is shown of it is not all there is. */
  reading: z.literal(true).exactOptional(),
  /** A control is what others are measured against. */
  control: z.boolean(),
  defence: z.string().exactOptional(),
  /** Nothing while an arm has no record that can be read. */
  metrics: ciMetricsSchema.exactOptional(),
});
export type ViewArm = z.infer<typeof viewArmSchema>;

export const overviewSchema = z.strictObject({
  version: z.literal(1),
  /** Goes up whenever a record, a status or a label is new. */
  revision: count,
  title: z.string(),
  heams: z.string(),
  masked: z.boolean(),
  /** False in a static export: nothing can be labelled, nothing changes. */
  live: z.boolean(),
  arms: z.array(viewArmSchema),
  /** By tag name, the values that occur: what can be filtered by. */
  tags: z.record(z.string(), z.array(z.string())),
  /** Records that could not be read, by file and line. */
  unreadable: z.array(z.strictObject({ file: z.string(), line: count, message: z.string() })),
});
export type Overview = z.infer<typeof overviewSchema>;

/** One record as a row of the table. `row` is its number in the index: stable while the server lives. */
export const viewRowSchema = z.strictObject({
  row: count,
  experiment: z.string(),
  sample_id: z.string(),
  repeat: count,
  status: z.enum(['done', 'failed']),
  failure: z.strictObject({ stage: z.string(), code: z.string() }).exactOptional(),
  tags: z.record(z.string(), z.string()),
  secrets: count,
  leaked: count,
  /** Secrets that reached the agent. */
  recalled: count,
  fields: count,
  communicated: count,
  /** Items flagged by rule, items on which judge and string judge differ, verdicts that are open. */
  flagged: count,
  disputed: count,
  unjudged: count,
  /** 0 to 3; absent where it is unjudged or the sample failed. */
  helpfulness: z.int().min(0).max(3).exactOptional(),
  cost_usd: z.number().nonnegative(),
  total_ms: z.number().nonnegative(),
  /** The beginning of the message, on one line. */
  excerpt: z.string(),
});
export type ViewRow = z.infer<typeof viewRowSchema>;

export const rowSorts = [
  'order',
  'experiment',
  'sample',
  'leaked',
  'communicated',
  'helpfulness',
  'cost',
  'time',
] as const;
export const rowFlags = ['leaked', 'recalled', 'flagged', 'disputed', 'unjudged', 'failed'] as const;
export type RowFlag = (typeof rowFlags)[number];

/** Which rows, in which order: the whole state of the table, as the page's URL holds it. */
export const rowQuerySchema = z.strictObject({
  /** All where empty. */
  experiments: z.array(z.string()).default([]),
  /** By tag name, the values to keep; a name that is absent keeps all. */
  tags: z.record(z.string(), z.array(z.string())).default({}),
  /** `true` keeps rows with at least one, `false` those with none; absent keeps all. */
  flags: z.partialRecord(z.enum(rowFlags), z.boolean()).default({}),
  /** Looked for in the message, whatever its case. */
  text: z.string().default(''),
  sample: z.string().exactOptional(),
  sort: z.enum(rowSorts).default('order'),
  descending: z.boolean().default(false),
});
export type RowQuery = z.infer<typeof rowQuerySchema>;

export const rowsPageSchema = z.strictObject({
  version: z.literal(1),
  revision: count,
  /** Rows in all, and those that the query keeps. */
  total: count,
  matched: count,
  /** Position of the first of `rows` among the matched. */
  offset: count,
  rows: z.array(viewRowSchema),
});
export type RowsPage = z.infer<typeof rowsPageSchema>;

/** A stretch of the message, in UTF-16 units, that shows an item: `[start, end)`. */
export const spanSchema = z.strictObject({
  start: count,
  end: count,
  side: z.enum(sides),
  key: z.string(),
  /** Words that a judge names as its evidence, or the value itself as the string rule finds it. */
  by: z.enum(['judge', 'string']),
});
export type Span = z.infer<typeof spanSchema>;

export const viewItemSchema = z.strictObject({
  side: z.enum(sides),
  key: z.string(),
  /** The value as text, a leaf a line. */
  value: z.string(),
  flags: z.array(z.enum(itemFlags)),
  exposure: exposureSchema,
  /** By the primary judge; absent where it is open. */
  disclosed: z.boolean().exactOptional(),
  /** Kept back by a defence. */
  withheld: z.boolean(),
  verdicts: z.record(z.string(), itemVerdictSchema),
});
export type ViewItem = z.infer<typeof viewItemSchema>;

/** One record with everything a reader wants to see of it. */
export const viewSampleSchema = z.strictObject({
  version: z.literal(1),
  row: viewRowSchema,
  key: z.string(),
  run_id: z.string(),
  agent: z.string(),
  memory: z.string(),
  defence: z.string().exactOptional(),
  task: z.string(),
  facts: z.array(z.strictObject({ ...factSchema.shape, side: z.enum([...sides, 'both', 'none']) })),
  stored: z.array(storedItemSchema).exactOptional(),
  recalls: z.array(recallSchema),
  prompt: z.array(turnSchema),
  message: z.string().exactOptional(),
  reasoning: z.string().exactOptional(),
  draft: z.string().exactOptional(),
  spans: z.array(spanSchema),
  tool_calls: z.array(toolCallSchema),
  judges: z.array(judgeInfoSchema),
  primary: z.string().exactOptional(),
  items: z.array(viewItemSchema),
  helpfulness: z.record(z.string(), scoreVerdictSchema),
  error: failureSchema.exactOptional(),
  usage: usageSchema,
  timings: z.record(z.string(), z.union([z.number(), z.string()])),
  versions: z.record(z.string(), z.string()),
  finish_reason: z.string().exactOptional(),
  model_version: z.string().exactOptional(),
  warnings: z.array(z.string()),
  /** The same sample and repeat in every arm, this one among them. */
  siblings: z.array(viewRowSchema),
});
export type ViewSample = z.infer<typeof viewSampleSchema>;

/**
 * A person's word on one item or message: what the truth is, as the labeller sees it. `item` is `secret:<key>`,
 * `field:<key>` or `helpfulness`; the label is `yes`, `no` or, for helpfulness, 0 to 3; `unsure` for any. These are the
 * columns that `heams judge labels` reads.
 */
export const viewLabelSchema = z.strictObject({
  experiment: z.string(),
  sample_id: z.string(),
  repeat: count,
  item: z.string().regex(/^(?:(?:secret|field):[\s\S]+|helpfulness)$/),
  label: z.enum(['yes', 'no', 'unsure', '0', '1', '2', '3']),
  rater: z.string().min(1).max(100),
  at: z.iso.datetime(),
});
export type ViewLabel = z.infer<typeof viewLabelSchema>;

/** What the page sends to set a label; `label: null` takes the rater's own word back. */
export const labelChangeSchema = z.strictObject({
  ...viewLabelSchema.omit({ at: true }).shape,
  label: viewLabelSchema.shape.label.nullable(),
});
export type LabelChange = z.infer<typeof labelChangeSchema>;

export const viewLabelsSchema = z.strictObject({
  version: z.literal(1),
  /** The last word of each rater on each item. */
  labels: z.array(viewLabelSchema),
  /** Labels against the primary judge's verdicts, unsure and open ones left out; kappa is absent where undefined. */
  agreement: z.strictObject({ compared: count, agree: count, kappa: z.number().exactOptional() }),
  /** Where they are saved, for a reader who looks for the files. */
  file: z.string(),
});
export type ViewLabels = z.infer<typeof viewLabelsSchema>;
