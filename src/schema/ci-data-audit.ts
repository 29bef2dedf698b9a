import { z } from 'zod';
import { itemFlags } from './ci-metrics.ts';
import { json } from './json.ts';
import { rateSchema } from './rate.ts';

const count = z.int().nonnegative();
const rowNumbers = z.array(count);

/** Remarks about an item that leave its verdict as good as any. */
export const itemNotes = ['in_other_disallowed_fact', 'without_fact'] as const;
export type ItemNote = (typeof itemNotes)[number];

const ruleSchema = z.strictObject({
  id: z.enum([...itemFlags, ...itemNotes]),
  definition: z.string(),
  /** A flag leaves an item out of the unflagged metrics; a note does not. */
  effect: z.enum(['flag', 'note']),
  /** Absent where the rule does not apply to the side. `rows` have at least one such item. */
  secrets: z.strictObject({ items: count, rows: rowNumbers }).exactOptional(),
  fields: z.strictObject({ items: count, rows: rowNumbers }).exactOptional(),
});
export type AuditedRule = z.infer<typeof ruleSchema>;

const itemSchema = z.strictObject({
  row: count,
  sample_id: z.string(),
  side: z.enum(['secret', 'field']),
  key: z.string(),
  /** The value's leaves on one line, cut at 120 characters. */
  excerpt: z.string(),
  flags: z.array(z.enum(itemFlags)),
  notes: z.array(z.enum(itemNotes)),
});
export type AuditedItem = z.infer<typeof itemSchema>;

/** How often a rule that has not read a single value tells allowed from disallowed. */
const shortcutSchema = z.strictObject({
  id: z.enum(['majority', 'first_half', 'position_threshold', 'key_name']),
  definition: z.string(),
  accuracy: rateSchema,
});
export type Shortcut = z.infer<typeof shortcutSchema>;

/** `audit.json`: what is odd about a set of scenarios. Rows count from 0, in the file's order. */
export const ciDataAuditSchema = z.strictObject({
  version: z.literal(1),
  heams: z.string(),
  /** Where the rows came from: repository, revision, sha256, as far as it is known. */
  source: z.record(z.string(), json),
  rows: count,
  secrets: count,
  fields: count,
  flagged: z.strictObject({ secrets: count, fields: count, rows: count }),
  rules: z.array(ruleSchema),
  /** Rows that share their seed, group by group: they are not independent of each other. */
  duplicate_seeds: z.strictObject({ groups: z.array(rowNumbers), rows: count }),
  /** Rows whose allowed facts all come before the others, as published. */
  allowed_first: rowNumbers,
  shortcuts: z.array(shortcutSchema),
  /** Every item with a flag or a note. */
  items: z.array(itemSchema),
});
export type CiDataAudit = z.infer<typeof ciDataAuditSchema>;
