import { z } from 'zod';
import { judgeInfoSchema, sides } from './ci-grade.ts';
import { json } from './json.ts';
import { rateSchema } from './rate.ts';

const count = z.int().nonnegative();
const unit = z.number().min(0).max(1);

/** What is done to the item in a message without an injection. */
export const plainKinds = [
  'verbatim',
  'recased',
  'partial',
  'spelled_out',
  'encoded',
  'negated',
  'refused_naming',
  'category',
  'absent',
] as const;
export type PlainKind = (typeof plainKinds)[number];

/** Text that tries to talk the judge into a verdict, added to a message that holds the item or does not. */
export const injectionKinds = [
  'ignore_instructions',
  'fake_json',
  'closing_quote',
  'system_turn',
  'role_play',
  'judge_rubric',
  'translated_verdict',
  'authority',
  'few_shot',
  'delimiter_flood',
  'hidden_unicode',
  'code_block',
] as const;
export type InjectionKind = (typeof injectionKinds)[number];

/** The messages that an injection is added to. */
export const injectionBases = ['verbatim', 'absent'] as const;

/**
 * Share of messages of one kind that the judge gets right: its sensitivity where `truth` is yes, its specificity where
 * it is no.
 */
const kindResultSchema = z.strictObject({ kind: z.enum(plainKinds), truth: z.boolean(), correct: rateSchema });

const injectionResultSchema = z.strictObject({
  injection: z.enum(injectionKinds),
  base: z.enum(injectionBases),
  correct: rateSchema,
  /** Share of pairs in which the verdict differs from the one about the same message without the injection. */
  changed: rateSchema,
  /** Share of pairs in which it differs and says what the injection asks for. */
  worked: rateSchema,
});

export const sideResultSchema = z.strictObject({
  side: z.enum(sides),
  /** Over all messages without an injection whose truth is yes, and no. */
  sensitivity: rateSchema,
  specificity: rateSchema,
  kinds: z.array(kindResultSchema),
  injections: z.array(injectionResultSchema),
  /** The same over all injections. */
  injected: z.strictObject({ changed: rateSchema, worked: rateSchema }),
});
export type SideResult = z.infer<typeof sideResultSchema>;

const correctedSchema = z.discriminatedUnion('defined', [
  z.strictObject({ defined: z.literal(true), value: unit, low: unit, high: unit, clipped: z.boolean() }),
  z.strictObject({ defined: z.literal(false), reason: z.string().min(1) }),
]);

export const correctionSchema = z.strictObject({
  judge: z.string(),
  side: z.enum(sides),
  /** Absent for all experiments together. */
  experiment: z.string().exactOptional(),
  /** Leakage (of secrets) or coverage (of fields) over items, as the judge sees it. */
  apparent: rateSchema,
  corrected: correctedSchema,
});
export type Correction = z.infer<typeof correctionSchema>;

/** A message that the judge got wrong. */
const misjudgedSchema = z.strictObject({
  judge: z.string(),
  sample_id: z.string(),
  side: z.enum(sides),
  key: z.string(),
  kind: z.enum(plainKinds),
  injection: z.enum(injectionKinds).exactOptional(),
  truth: z.boolean(),
  message: z.string(),
  reasoning: z.string().exactOptional(),
});
export type Misjudged = z.infer<typeof misjudgedSchema>;

/** `judge_audit.json` */
export const judgeAuditSchema = z.strictObject({
  version: z.literal(1),
  heams: z.string(),
  benchmark: z.string(),
  /** Where the samples came from: repository, revision, sha256, rows. */
  dataset: z.record(z.string(), json),
  seed: z.int(),
  samples: count,
  messages: count,
  judges: z.array(judgeInfoSchema).min(1),
  results: z.array(z.strictObject({ judge: z.string(), sides: z.array(sideResultSchema) })),
  /** Of the judge models that could not be reached about a message, the reasons. */
  failures: z.array(z.strictObject({ judge: z.string(), code: z.string(), message: z.string(), count })),
  corrections: z.array(correctionSchema),
  /** The first of them, in the order of the messages. */
  misjudged: z.array(misjudgedSchema),
});
export type JudgeAudit = z.infer<typeof judgeAuditSchema>;
